"""A burglar, an alarm and wet grass: belief networks of the textbook, with evidence that is certain, uncertain, and put there.

Run: python examples/burglar_alarm.py; the tables are those of the textbook.
"""

import numpy as np

from tacit.graph import BeliefNetwork


def two_states(*names):
    """States of variables that are or are not."""
    return {name: ["no", "yes"] for name in names}


def yes(network, variable, given=None, **soft):
    """The probability that a variable is."""
    return network.query(variable, given, **soft).values[1]


alarm = BeliefNetwork.from_tables(
    {
        "burglar": [0.99, 0.01],
        "earthquake": [0.999999, 0.000001],
        "alarm": (["burglar", "earthquake"], [[[0.9999, 0.0001], [0.01, 0.99]], [[0.01, 0.99], [0.0001, 0.9999]]]),
        "radio": (["earthquake"], [[1.0, 0.0], [0.0, 1.0]]),
    },
    two_states("burglar", "earthquake", "alarm", "radio"),
)
print("The alarm sounds. Was it a burglar?")
print(f"  it sounds                             {yes(alarm, 'burglar', {'alarm': 'yes'}):.4f}")
print(f"  and the radio tells of an earthquake  {yes(alarm, 'burglar', {'alarm': 'yes', 'radio': 'yes'}):.4f}")
print(
    f"  one is 70 % sure to have heard it     {yes(alarm, 'burglar', belief={'alarm': [0.3, 0.7]}):.4f} (Jeffrey's rule)"
)
print(
    f"  what was heard is 7 : 3 for an alarm  {yes(alarm, 'burglar', likelihood={'alarm': [0.3, 0.7]}):.4f} (likelihood)"
)
print(f"  one set it off oneself                {yes(alarm.do({'alarm': 'yes'}), 'burglar'):.4f} (intervention)\n")

grass = BeliefNetwork.from_tables(
    {
        "rain": [0.8, 0.2],
        "sprinkler": [0.9, 0.1],
        "jack": (["rain"], [[0.8, 0.2], [0.0, 1.0]]),
        "tracey": (["rain", "sprinkler"], [[[1.0, 0.0], [0.1, 0.9]], [[0.0, 1.0], [0.0, 1.0]]]),
    },
    two_states("rain", "sprinkler", "jack", "tracey"),
)
print("Tracey's grass is wet. Was the sprinkler left on?")
print(f"  before looking                  {yes(grass, 'sprinkler'):.4f}")
print(f"  hers is wet                     {yes(grass, 'sprinkler', {'tracey': 'yes'}):.4f}")
print(
    f"  and so is Jack's next door      {yes(grass, 'sprinkler', {'tracey': 'yes', 'jack': 'yes'}):.4f} (rain explains both)"
)
print(f"  what happened, most probably    {grass.most_probable({'tracey': 'yes', 'jack': 'yes'}).states}\n")

rng = np.random.default_rng(0)
days = grass.sample(2000, random_state=0)
days[rng.random(days.shape) < 0.3] = None
learned = BeliefNetwork([(0, 2), (0, 3), (1, 3)]).fit(days)
print("The same tables from 2,000 days, of which three cells in ten are missing (EM):")
rain, sprinkler = (learned.query(column).values[1] for column in (0, 1))
print(f"  rain {rain:.3f} (0.200), sprinkler {sprinkler:.3f} (0.100); {learned.fit_.reason}")
