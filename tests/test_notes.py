"""Sentences with codes, values and checks."""

import pickle

from tacit.notes import Check, Claim, Note, Option


def test_notes_and_claims_keep_what_they_tell_when_pickled():
    note = Note("seed", "{option} is invalid; use {most}.", option=Option("seed", -1), most=9)
    claim = Claim("rows", "{n} rows.", check=Check("counted", {"n": 3}, "{'n': len(table)}"), n=3)
    for each in (note, claim):
        again = pickle.loads(pickle.dumps(each))
        assert (str(again), type(again), vars(again)) == (str(each), type(each), vars(each))
    assert note.worded(lambda option: f"--{option.name}") == "--seed is invalid; use 9."
    assert (claim, claim.code, claim.check.figures) == ("3 rows.", "rows", {"n": 3})
