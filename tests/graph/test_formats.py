"""Files of networks: written and read again, cut off anywhere, hostile, and as other programs write them."""

import io
import re
import tracemalloc

import numpy as np
import pytest

from tacit.graph import BeliefNetwork, read_uai_factors
from tacit.graph.formats import read_bif, read_network, read_uai, read_xmlbif
from tacit.graph.formats.bif import write_bif
from tacit.graph.formats.uai import write_uai
from tacit.graph.formats.xmlbif import write_xmlbif

from .networks import published, random_network

READERS = {"bif": (read_bif, write_bif), "xmlbif": (read_xmlbif, write_xmlbif), "uai": (read_uai, write_uai)}


def text(kind, seed=1):
    network = random_network(seed)
    return READERS[kind][1](network.nodes_, network.params_.theta)


@pytest.mark.parametrize("ending", ["bif", "xmlbif", "xml", "uai"])
@pytest.mark.parametrize("seed", range(4))
def test_a_network_comes_back_as_it_was(ending, seed, tmp_path):
    network = random_network(seed)
    network.write(tmp_path / f"network.{ending}")
    again = BeliefNetwork.read(tmp_path / f"network.{ending}")
    np.testing.assert_allclose(again.params_.theta, network.params_.theta, rtol=0, atol=1e-15)
    assert again.nodes_.parents == network.nodes_.parents
    if ending != "uai":
        assert again.nodes_ == network.nodes_


@pytest.mark.parametrize("kind", READERS)
def test_a_file_that_is_cut_off_anywhere_is_refused(kind):
    whole = text(kind)
    n_words = len(whole.split())
    for end in range(len(whole) - 12):
        if kind == "uai" and len(whole[:end].split()) == n_words:  # a number that lacks digits is a number
            break
        with pytest.raises(ValueError, match=r".") as told:
            READERS[kind][0](io.StringIO(whole[:end]))
        assert "line" in str(told.value) or "sum" in str(told.value) or "no variable" in str(told.value)


ODD = [
    "999999999999",
    "1e308",
    "-1",
    "nan",
    "1e999",
    "²",
    "00",
    "{",
    ")",
    "|",
    "/*",
    '"',
    "<",
    "&a;",
    "table",
    "default",
    ";",
    "٣",
]


def damaged(whole, rng):
    """A text with bytes changed at random, or with words left out, doubled, exchanged, or replaced by odd ones."""
    if rng.random() < 0.4:
        content = bytearray(whole.encode())
        for at in rng.integers(0, len(content), 4):
            content[at] = rng.integers(256)
        return bytes(content)
    words = re.findall(r"\s+|[\w.-]+|.", whole, re.DOTALL)
    for at, other, way in rng.integers(0, [len(words) - 4, len(words) - 4, 4], (3, 3)).tolist():
        if way == 0:
            words[at] = str(rng.choice(ODD))
        elif way == 1:
            del words[at]
        elif way == 2:
            words.insert(at, words[other])
        else:
            words[at], words[other] = words[other], words[at]
    return "".join(words).encode()


@pytest.mark.parametrize("n", [300, pytest.param(5000, marks=pytest.mark.full)])
@pytest.mark.parametrize("kind", READERS)
def test_no_damage_to_a_file_raises_anything_but_a_value_error(kind, n):
    whole, rng, told = text(kind), np.random.default_rng(n), []
    for _ in range(n):
        try:
            nodes, theta = READERS[kind][0](io.BytesIO(damaged(whole, rng)))
        except ValueError as error:
            told.append(str(error))
        else:
            assert np.isfinite(nodes.check_tables(theta)).all()
    assert len(told) > n // 2
    assert max(map(len, told)) < 400


HOSTILE = {
    "bif": ["network x { " + "/* " * 200_000, "network x " + "{" * 100_000, " " * 2_000_000, "(" * 100_000,
            "network x { " + 'property "a' * 50_000],
    "xmlbif": ["<BIF><NETWORK><VARIABLE><NAME>" + "1\n" * 200_000, "<a>" * 100_000, "<BIF " + 'a="1" ' * 50_000],
    "uai": ["BAYES\n10000000\n" + "2 " * 100_000, "MARKOV " + "9" * 100_000, "BAYES\n1\n2\n1\n1 " + "0" * 12 + "9" * 30],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "at"), [(kind, at) for kind, each in HOSTILE.items() for at in range(len(each))])
def test_hostile_files_take_neither_time_nor_memory(kind, at):
    content = HOSTILE[kind][at]
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"line 1|line 2|line 3|line 5|line \d+"):
            READERS[kind][0](io.StringIO(content))
        assert tracemalloc.get_traced_memory()[1] < 100 * len(content) + 1e6
    finally:
        tracemalloc.stop()


def test_an_encoding_that_a_file_declares_is_that_of_its_bytes():
    whole = text("xmlbif").replace('version="1.0"', 'version="1.0" encoding="ISO-8859-1"').replace(">a<", ">ä<")
    assert "ä" in read_xmlbif(io.BytesIO(whole.encode()))[0].names


def test_all_ways_to_write_a_table_in_bif():
    network = read_bif(
        io.StringIO("""
        // a comment
        network "two words" { property author me; }
        variable a { type discrete [2] { "y e s", no }; property x = 1; }
        variable b { type discrete [ 2 ] { t f }; }
        variable c { type discrete [ 2 ] { t, f }; }
        probability (a) { table 0.25, 0.75; }
        probability ( b | a ) { /* rows
            in any order */ (no) 0.5 0.5; default 0.125, 0.875; }
        probability ( c | a ) { table 0.1, 0.2, 0.9, 0.8; }
    """)
    )
    nodes, theta = network
    assert nodes.states[0] == ("y e s", "no")
    assert theta.tolist() == [0.25, 0.75, 0.125, 0.875, 0.5, 0.5, 0.1, 0.9, 0.2, 0.8]


BILLION = (
    """<?xml version="1.0"?><!DOCTYPE BIF [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><BIF><NETWORK/></BIF>"""
)
OUTSIDE = """<?xml version="1.0"?><!DOCTYPE BIF [<!ENTITY a SYSTEM "file:///etc/passwd">]><BIF>&a;</BIF>"""


def variable(states="t, f", n=2, name="a"):
    return f"variable {name} {{ type discrete [ {n} ] {{ {states} }}; }}\n"


def wide(n):
    """A table over many variables in a short file."""
    names = [f"v{i}" for i in range(n)]
    head = f"probability ( v0 | {', '.join(names[1:])} )"
    return "".join(variable(name=name) for name in names) + head + " { default 0.5, 0.5; }"


PAIR = variable() + variable(name="b") + "probability (a) { table 1, 0; }\nprobability ( b | a )"


@pytest.mark.parametrize(
    ("reader", "content", "message"),
    [(read_bif, "", r"line 1: the file has no variable"),
     (read_bif, "hello", r"line 1: found 'hello' where 'network', 'variable' or 'probability' must stand"),
     (read_bif, variable() + "probability ( b ) { table 1; }", r"line 2: 'b' is no variable of the file; there are a"),
     (read_bif, variable() + variable(), r"line 2: the variable 'a' is there twice"),
     (read_bif, variable(n=3), r"line 1: 'a' is said to have 3 states but 2 are named"),
     (read_bif, variable("t, t"), r"line 1: the states of 'a' are \['t', 't'\]"),
     (read_bif, variable() + "probability ( a ) {\n table 0.5, x; }", r"line 3: 'x' is not a number"),
     (read_bif, variable() + "probability ( a ) { table 0.5, nan; }", r"line 2: nan is not a finite number"),
     (read_bif, variable() + "probability ( a ) { table 0.5; }", r"line 2: the table of 'a' has 1 values, but .* need 2"),
     (read_bif, variable() + "probability ( a ) { table 0.5, 0.6; }", r"the table of 'a' sums to 1.1"),
     (read_bif, PAIR + " { (t) 1, 0; }",
      r"line 4: the table of 'b' has no row for \(f\)"),
     (read_bif, PAIR + " { (z) 1, 0; }",
      r"line 4: 'z' is no state of 'a'"),
     (read_bif, variable() + "probability (a | a) { table 1, 0; }", r"line 2: 'a' has a parent twice, or itself as one"),
     (read_bif, variable(), r"line 1: the probabilities of 'a' are missing; the file may be cut off"),
     (read_bif, "variable a { type continuous; }", r"line 1: 'a' is of type 'continuous'"),
     (read_bif, "variable a { type discrete [ 2 ] { t,", r"line 1: the file ends here, in the middle"),
     (read_bif, wide(40), r"line 41: the table of 'v0' would have 1.1e\+12 cells, more than a file of this length can give"),
     (read_bif, wide(26), r"line 27: the table of 'v0' would have 6.71e\+07 cells, more than a file of this length can give"),
     (read_bif, PAIR + " { (t) 1, 0; (f) 1, 0; (t) 0, 1; }", r"line 4: the row \(t\) of the table of 'b' is given twice"),
     (read_bif, variable() + "probability (a) { table 1, 0; table 0, 1; }", r"line 2: the table of 'a' is given twice"),
     (read_bif, "network x { /* }", r"line 1: '/\* }' cannot be read"),
     (read_xmlbif, BILLION, r"line 1: the file declares the entity 'a'; files of networks need none"),
     (read_xmlbif, OUTSIDE, r"line 1: the file declares the entity 'a'"),
     (read_xmlbif, "<BIF><NETWORK>", r"line 1: this is not well-formed XML \(no element found\); the file may be cut off"),
     (read_xmlbif, "<a>" * 20, r"line 1: elements lie 16 deep"),
     (read_xmlbif, '<BIF><VARIABLE TYPE="utility"><NAME>u</NAME></VARIABLE></BIF>', r"'u' is of type 'utility'"),
     (read_xmlbif, "<BIF><VARIABLE></VARIABLE></BIF>", r"a variable has 0 names; it must have one"),
     (read_xmlbif, "<BIF><DEFINITION><FOR>a</FOR></DEFINITION></BIF>", r"a definition has 0 TABLE; it must have one"),
     (read_xmlbif, "<BIF></BIF>", r"the file has no variable; it is no XMLBIF file"),
     (read_uai, "BAYES\n1\n2\n1\n1 0\n2\n0.5", r"line 7: the file ends here, in the middle"),
     (read_uai, "FAMILY", r"line 1: found 'FAMILY' where 'BAYES' or 'MARKOV' must stand"),
     (read_uai, "BAYES\n-3", r"line 2: found '-3' where a whole number from 1 to 10000000 must stand"),
     (read_uai, "BAYES\n99999999999999999999", r"line 2: found '99999999999999999999' where a whole number"),
     (read_uai, "BAYES\n1\n2\n1\n1 0\n3\n0.5 0.5 0", r"line 6: a factor over \[0\] has 3 values, but its states need 2"),
     (read_uai, "MARKOV\n1\n2\n1\n1 0\n2\n1 1", r"the file holds a Markov network"),
     (read_uai, "BAYES\n1\n2\n2\n1 0\n1 0\n2\n1 0\n2\n1 0", r"1 variables have 2 factors"),
     (read_uai, "BAYES\n2\n2 2\n1\n2 0 0", r"line 5: a factor over \[0, 0\] names a variable twice"),
     (read_uai, "BAYES\n1\n2\n1\n1 0\n2\n1 0 0.5", r"line 7: found '0.5' after the last table, where the file must end"),
     (read_uai, "BAYES\n2\n1 2\n1\n1 1\n2\n1 0", r"2 variables have 1 factors for 1 of them"),
     (read_uai, "MARKOV\n1\n2\n1\n1 0\n2\n1 -1", r"a factor over \[0\] holds -1; values must be at least 0")],
)  # fmt: skip
def test_bad_files_are_refused_with_their_line(reader, content, message):
    with pytest.raises(ValueError, match=message):
        reader(io.StringIO(content))


def test_markov_networks_are_read_as_factors():
    kind, factors = read_uai_factors(io.StringIO("MARKOV\n2\n2 3\n2\n1 0\n2 0 1\n\n2\n 0.5 2\n6\n 1 2 3\n 4 5 6\n"))
    assert kind == "MARKOV"
    assert [factor.variables for factor in factors] == [(0,), (0, 1)]
    assert factors[1].values.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_names_of_files_are_told(tmp_path):
    path = tmp_path / "network.bif"
    path.write_bytes(b"variable \xff")
    with pytest.raises(ValueError, match=r"network.bif' cannot be read: line 1 of .* is not UTF-8 text"):
        read_network(path)
    with pytest.raises(ValueError, match=r"ends in '.net', which is no format of networks; there are .bif, .xmlbif"):
        read_network(tmp_path / "network.net")
    network = BeliefNetwork.from_tables({"x": {"coefficients": 0.0, "variance": 1.0}})
    with pytest.raises(
        ValueError, match=r"'x' is continuous, which no such file can hold; save the network with tacit.save"
    ):
        network.write(tmp_path / "network.bif")


def test_names_that_need_quotes():
    network = BeliefNetwork.from_tables({"a, b": [0.5, 0.5]}, {"a, b": ["x y", "(z)"]})
    nodes = network.nodes_
    assert read_bif(io.StringIO(write_bif(nodes, network.params_.theta)))[0] == nodes
    assert read_xmlbif(io.StringIO(write_xmlbif(nodes, network.params_.theta)))[0] == nodes
    odd = BeliefNetwork.from_tables({'a"': [1.0]}).nodes_
    with pytest.raises(ValueError, match=r"BIF cannot write the name"):
        write_bif(odd, np.ones(1))


@pytest.mark.parametrize("name", ["asia", "child", "hailfinder"])
def test_published_networks_are_written_and_read(name, tmp_path):
    network = published(name)
    for ending in ("bif", "xmlbif", "uai"):
        network.write(tmp_path / f"again.{ending}")
        again = BeliefNetwork.read(tmp_path / f"again.{ending}")
        np.testing.assert_allclose(again.params_.theta, network.params_.theta, rtol=0, atol=1e-15)


def test_pyagrum_reads_what_is_written(tmp_path):
    gum = pytest.importorskip("pyagrum", reason="pyAgrum is not installed")
    network = random_network(1)
    for ending in ("bif", "bifxml"):
        network.write(tmp_path / f"network.{ending}")
        other = gum.loadBN(str(tmp_path / f"network.{ending}"))
        for v in network.nodes_.names:
            inference = gum.LazyPropagation(other)
            inference.makeInference()
            np.testing.assert_allclose(network.query(v).values, inference.posterior(v).toarray(), atol=1e-6)
