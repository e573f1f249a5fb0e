"""`tacit recommend`: what it writes, what it refuses, and what saved recommenders say of pairs."""

import csv
import json
import os
import re

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.cli.outcome import plain
from tacit.datasets import make_ratings
from tacit.recommend import Ratings, choose_recommender
from tacit.recommend.choice import check_again
from tacit.study.recommend import study_ratings


def rows_of(n_users=180, n_items=40):
    """Ratings as rows of a file: text ids, dates, two without a rating, one twice, and a user with one rating."""
    drawn = make_ratings(n_users, n_items, density=0.4, random_state=0)
    days = drawn.more["time"].astype("datetime64[D]").astype(str)
    rows = [[*pair, f"{rating:g}", day] for pair, rating, day in zip(drawn.X, drawn.target, days)]
    rows[3][2] = ""
    rows[7][2] = "NA"
    rows.append([*rows[0][:2], "1", "2030-01-01"])
    return [*rows, ["solo", rows[1][1], "4", "2020-05-05"]], drawn


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recommend")
    rows, drawn = rows_of()
    write(folder / "r.csv", [["user", "film", "stars", "date"], *rows])
    films = [[item, drawn.more["titles"][item], drawn.more["feature_names"][drawn.more["genre"][j]]]
             for j, item in enumerate(drawn.more["items"])]  # fmt: skip
    write(folder / "films.csv", [["film", "title", "genre"], *films])
    assert run(folder, "--items", str(folder / "films.csv")) == 0
    return folder


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def run(folder, *options, file="r.csv", method="factorization"):
    told = ["--method", method, "--components", "12", "--types", "3", "--quiet"]
    return main(["recommend", str(folder / file), *told, *options])


def test_everything_is_written(folder):
    names = ("recommendations.csv", "users.csv", "items.csv", "check.csv", "tacit", "html")
    assert {path.name for path in folder.glob("r.recommend.*")} == {f"r.recommend.{name}" for name in names}
    rows = rows_of()[0]
    known = {(user, item): rating for user, item, rating, _ in rows if rating not in ("", "NA")}
    users, items = read(folder / "r.recommend.users.csv"), read(folder / "r.recommend.items.csv")
    assert sum(int(row["ratings"]) for row in users) == len(known) == sum(int(row["ratings"]) for row in items)
    assert {row["user"]: row["ratings"] for row in users}["solo"] == "1"
    own = [float(rating) for (_, item), rating in known.items() if item == items[0]["item"]]
    assert float(items[0]["mean"]) == pytest.approx(np.mean(own))
    assert items[0]["name"].split()[0] in ("Comedy", "Crime", "Space")
    assert {row["type"] for row in users} <= {"1", "2", "3"}
    lists = read(folder / "r.recommend.recommendations.csv")
    assert {row["user"] for row in lists} == {row["user"] for row in users if int(row["ratings"]) < 40}
    assert not any((row["user"], row["item"]) in known for row in lists)
    first = [row for row in lists if row["user"] == "u001"]
    assert [row["rank"] for row in first] == [str(k) for k in range(1, 11)]
    expected = [float(row["expected"]) for row in first]
    assert expected == sorted(expected, reverse=True)
    assert all(float(row["low"]) <= float(row["expected"]) <= float(row["high"]) for row in lists)
    # The last of two ratings by date counts.
    assert known[tuple(rows[0][:2])] == "1"


def test_python_gives_the_same_answers(folder, tmp_path, capsys):
    assert run(folder, "--for", "u005", "--json", "--out", str(tmp_path), "--check", "2") == 0
    told = json.loads(capsys.readouterr().out)
    ratings = Ratings.read(folder / "r.csv", user="user", item="film", rating="stars", time="date")
    choice = choose_recommender(ratings, method="factorization", n_components=12, n_splits=2)
    findings = study_ratings(choice, ratings, users=["u005"], n=10)
    assert told["check"]["rmse"]["predicted"] == pytest.approx(findings.check.rmse(), rel=1e-9)
    assert told["check"]["coverage"] == pytest.approx(findings.check.coverage)
    assert told["check"]["splits"] == 2
    listed = told["recommended"][0]["items"]
    assert [item["item"] for item in listed] == list(choice.model.recommend("u005", 10).items)
    assert [item["rating"] for item in listed] == pytest.approx([item.rating for item in findings.examples[0].items])
    assert told["summary"][:4] == plain(findings.summary[:4])
    held = read(tmp_path / "r.recommend.check.csv")
    wrong = np.array([float(row["rating"]) - float(row["predicted"]) for row in held])
    assert np.sqrt(np.mean(wrong**2)) == pytest.approx(findings.check.rmse(), rel=1e-8)
    loaded = tacit.load(tmp_path / "r.recommend.tacit")
    np.testing.assert_allclose(loaded.predict((["u005"], ["f03"])), choice.model.predict((["u005"], ["f03"])))


def test_the_verdict_tells_errors_against_averages(folder, tmp_path, capsys):
    assert run(folder, "--json", "--out", str(tmp_path)) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["summary"][0].startswith("Ratings can be predicted: on ratings held out the error is ")
    claims = {claim["code"]: claim for claim in told["claims"]}
    assert (
        claims["verdict"]["figures"]["error"]
        < claims["verdict"]["figures"]["averages"]
        < claims["verdict"]["figures"]["mean"]
    )
    assert "1 of 181 users" not in claims["users"]["text"] or claims["users"]["figures"]["few"] == 1
    assert [note for note in told["notes"] if "rating" in note]
    assert told["columns"]["item"] == "film"
    assert sum(told["ratings"].values()) == told["rows"]


def test_auto_takes_the_least_error(folder, tmp_path, capsys):
    assert run(folder, "--json", "--out", str(tmp_path), "--no-report", method="auto") == 0
    told = json.loads(capsys.readouterr().out)
    errors = [row["rmse"] for row in told["selection"]]
    assert len(errors) == 3
    assert errors == sorted(errors)
    assert told["method"] == {"factorization": "MatrixFactorization", "neighbours": "NeighbourhoodRecommender",
                              "types": "TwoSidedMixture"}[told["selection"][0]["method"]]  # fmt: skip


def test_unknown_users_get_what_is_liked_in_general(folder, tmp_path, capsys):
    assert run(folder, "--for", "nobody", "--for", "solo", "--top", "3", "--out", str(tmp_path)) == 0
    out = capsys.readouterr().out
    assert "nothing is known of this user; these are items that users like in general" in out
    lists = read(tmp_path / "r.recommend.recommendations.csv")
    assert [(row["user"], row["rank"]) for row in lists] == [(user, k) for user in ("nobody", "solo") for k in "123"]


def test_all_users_get_as_many_as_asked_for(folder, tmp_path):
    options = [
        "--all",
        "4",
        "--for",
        "u001",
        "--format",
        "parquet",
        "--types",
        "0",
        "--no-report",
        "--out",
        str(tmp_path),
    ]
    assert run(folder, *options) == 0
    import pyarrow.parquet as parquet

    table = parquet.read_table(tmp_path / "r.recommend.recommendations.parquet").to_pydict()
    assert set(table["rank"]) == {1, 2, 3, 4}
    full = sum(int(row["ratings"]) == 40 for row in read(folder / "r.recommend.users.csv"))
    assert len(set(table["user"])) == 181 - full
    assert not (tmp_path / "r.recommend.html").exists()
    assert "type" not in parquet.read_table(tmp_path / "r.recommend.users.parquet").column_names


def test_columns_without_telling_names_are_found_by_what_they_hold(folder, tmp_path, capsys):
    rows = rows_of()[0]
    write(tmp_path / "odd.csv", [["a", "b", "c"], *[row[:3] for row in rows]])
    assert run(tmp_path, "--json", "--no-report", file="odd.csv") == 0
    told = json.loads(capsys.readouterr().out)
    assert {role: told["columns"][role] for role in ("user", "item", "rating")} == {
        "user": "a",
        "item": "b",
        "rating": "c",
    }
    lines = "\n".join(
        "\t".join([str(1 + k % 40), str(100 + k % 17), str(2 + k * k % 5), str(880000000 + k)]) for k in range(600)
    )
    (tmp_path / "u.data").write_text(lines + "\n")
    assert run(tmp_path, "--json", "--no-report", "--out", str(tmp_path / "new"), file="u.data") == 0
    told = json.loads(capsys.readouterr().out)
    assert "was taken as a rating" in told["notes"][0]
    assert "--header yes" in told["notes"][0]
    (tmp_path / "u.data").write_text("1\t1\t5\t880000000\n" + lines + "\n")
    assert run(tmp_path, "--json", "--no-report", "--out", str(tmp_path / "again"), file="u.data") == 0
    again = json.loads(capsys.readouterr().out)
    assert "was taken as a rating" in again["notes"][0]
    assert again["rows"] == told["rows"] + 1


def test_pairs_of_a_saved_recommender(folder, tmp_path, capsys):
    model = str(folder / "r.recommend.tacit")
    write(tmp_path / "pairs.csv", [["who", "film"], ["u001", "f01"], ["u001", "zzz"], ["new", "f02"], ["new", "zzz"]])
    asked = ["predict", model, str(tmp_path / "pairs.csv"), "--out", str(tmp_path)]
    assert main([*asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["new"] == {"users": 2, "items": 2}
    rows = read(tmp_path / "pairs.predict.ratings.csv")
    assert [row["known"] for row in rows] == ["both", "user only", "item only", "neither"]
    loaded = tacit.load(model)
    expected = loaded.predict((["u001", "u001", "new", "new"], ["f01", "zzz", "f02", "zzz"]))
    np.testing.assert_allclose([float(row["rating"]) for row in rows], expected, rtol=1e-8)
    assert all(float(row["low"]) < float(row["high"]) for row in rows)
    assert main([*asked, "--force", "--item", "what"]) == 2
    assert "has no column 'what'" in capsys.readouterr().err
    assert main([*asked, "--force", "--fill"]) == 2
    assert "--fill is not for a MatrixFactorization, which takes pairs; leave it out." in capsys.readouterr().err


def test_a_pair_is_explained(folder, capsys):
    model = str(folder / "r.recommend.tacit")
    assert main(["explain", model, "u001", "f01", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["pair"]
    loaded = tacit.load(model)
    assert told["rating"] == pytest.approx(float(loaded.predict((["u001"], ["f01"]))[0]))
    assert np.clip(sum(told["parts"].values()), 1, 5) == pytest.approx(told["rating"], abs=1e-6)
    assert "all ratings" in told["parts"]
    titles = {row["film"]: row["title"] for row in read(folder / "films.csv")}
    assert titles["f01"] in told["words"]
    assert all(name == titles[item] for item, _, _, name in told["because"])
    assert main(["explain", model, "nobody", "f01"]) == 0
    assert "the user 'nobody' is not known to the model" in capsys.readouterr().out
    assert main(["explain", model, "u001"]) == 2
    assert "name the item after the user" in capsys.readouterr().err


def test_the_page_is_written_again(folder, tmp_path, capsys):
    model = str(folder / "r.recommend.tacit")
    assert main(["report", model, "--out", str(tmp_path), "--title", "Films"]) == 0
    capsys.readouterr()
    page = (tmp_path / "r.report.html").read_text(encoding="utf-8")
    first = (folder / "r.recommend.html").read_text(encoding="utf-8")
    assert "<h1>Films</h1>" in page
    for name in ("ratings", "types", "map", "accuracy", "examples"):
        assert f'<section id="{name}"' in page
        assert f'<section id="{name}"' in first
    assert "Comedy" in page
    figures = [re.findall(r"\d\.\d{2,}", text.partition('<section id="accuracy"')[2].partition("</section>")[0])
               for text in (first, page)]  # fmt: skip
    assert len(figures[0]) > 5
    assert figures[0] == figures[1]
    write(tmp_path / "other.csv", [["user", "film", "stars"], *[row[:3] for row in rows_of(40, 20)[0]]])
    assert main(["report", model, str(tmp_path / "other.csv"), "--out", str(tmp_path), "--force"]) == 2
    assert "the model knows 181 users that are not the same" in capsys.readouterr().err
    assert main(["report", model, "--out", str(tmp_path), "--force", "--merge", "1+2"]) == 2
    assert "--merge is not for a recommender" in capsys.readouterr().err


def test_inspect_recommends_it(folder, tmp_path, capsys):
    assert main(["inspect", str(folder / "r.csv"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["recommended"]
    assert told["command"] == f"tacit recommend {folder / 'r.csv'}"
    assert "user, film and stars are a user, an item and a rating" in told["because"]
    lines = "".join(f"{1 + k % 40}\t{100 + k % 17}\t{2 + k * k % 5}\t{880000000 + k}\n" for k in range(600))
    (tmp_path / "u.data").write_text(lines)
    assert main(["inspect", str(tmp_path / "u.data"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["recommended"]
    assert told["command"] == f"tacit recommend {tmp_path / 'u.data'}"
    assert told["because"].startswith("the first three columns look like a user, an item and a rating")
    (tmp_path / "u.data").write_text("1\t1\t5\t880000000\n" + lines)
    assert main(["inspect", str(tmp_path / "u.data")]) == 2
    assert "rename one or, if the first line is a row, use --header no." in capsys.readouterr().err
    assert main(["inspect", str(tmp_path / "u.data"), "--header", "no", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["recommended"]["command"].startswith("tacit recommend ")
    write(tmp_path / "n.csv", [[k * 7 % 50, k * 3 % 40, round(k / 7, 3)] for k in range(1, 90)])
    assert main(["inspect", str(tmp_path / "n.csv"), "--json"]) == 0
    assert "tacit recommend" not in capsys.readouterr().out
    write(tmp_path / "t.csv", [["item", "user", "rating"], *[[f"i{k}", f"u{k}", k % 5] for k in range(50)]])
    assert main(["inspect", str(tmp_path / "t.csv"), "--json"]) == 0
    assert "tacit recommend" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["r.csv", "--rating", "starz"], "has no column 'starz', which --rating names; did you mean 'stars'?"),
        (["r.csv", "--rating", "date"], "column 'date' holds '20"),
        (["none.csv"], "none.csv has users and items without ratings: they tell what was chosen, not how it was liked"),
        (["odd.csv"], "has no column that is named like a rating; it has 'user', 'item', 'x': say which it is by --rating x."),
        (["same.csv"], "are 1: they tell what was chosen, not how it was liked, and this command takes ratings; in Python"),
        (["one.csv"], "has 1 ratings of 1 items; at least 2 of each are needed"),
        (["r.csv", "--items", "nofile.csv"], "nofile.csv"),
        (["r.csv", "--items", "films.csv", "--label", "titel"], "has no column 'titel', which --label names; did you"),
        (["r.csv", "--users", "films.csv"], "is that of a user of the ratings"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(options, fault, folder, tmp_path, capsys, monkeypatch):
    write(folder / "none.csv", [["user", "item"], *[[f"u{k % 9}", f"i{k % 7}"] for k in range(63)]])
    write(folder / "odd.csv", [["user", "item", "x"], *[[f"u{k % 9}", f"i{k % 7}", f"a{k}"] for k in range(63)]])
    write(folder / "same.csv", [["user", "item", "rating"], *[[f"u{k % 9}", f"i{k % 7}", 1] for k in range(63)]])
    write(folder / "one.csv", [["user", "item", "rating"], ["a", "b", 3]])
    monkeypatch.chdir(folder)
    file, *rest = options
    assert run(folder, *rest, "--out", str(tmp_path), file=file) == 2
    err = capsys.readouterr().err
    assert fault in err
    assert err.count("\n") == 1
    assert os.listdir(tmp_path) == []


def test_a_budget_ends_the_choice_and_is_told(folder, tmp_path, capsys):
    assert run(folder, "--budget", "0.001s", "--json", "--no-report", "--out", str(tmp_path), method="auto") == 0
    told = json.loads(capsys.readouterr().out)
    assert "The time of 0.001 s was up" in told["summary"][1]
    assert [row["failed"] for row in told["selection"]].count("left out: no time was left for it") == 2


def test_few_ratings_are_not_held_out(tmp_path, capsys):
    write(
        tmp_path / "few.csv", [["user", "item", "rating"], *[[f"u{k % 3}", f"i{k % 4}", 1 + k % 5] for k in range(12)]]
    )
    assert run(tmp_path, "--json", file="few.csv") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["check"] is None
    assert not any("error" in sentence for sentence in told["summary"])
    assert any("too few to hold any out" in sentence for sentence in told["limits"])
    assert not (tmp_path / "few.recommend.check.csv").exists()


def test_types_are_as_many_as_asked_for(folder, tmp_path, capsys):
    def told(name, *options, types="3"):
        asked = [
            "recommend",
            str(folder / "r.csv"),
            "--method",
            "types",
            "--quiet",
            "--json",
            "--out",
            str(tmp_path / name),
        ]
        assert main([*asked, "--no-report", "--types", types, *options]) == 0
        model = tacit.load(str(tmp_path / name / "r.recommend.tacit"))
        return model, json.loads(capsys.readouterr().out)["types"]

    model, types = told("own")
    assert (model.n_user_types, model.n_item_types) == (3, 3)
    assert len(types["users"]) <= 3
    model, types = told("other", "--components", "6")
    assert model.n_user_types == 6
    assert len(types["users"]) <= 3
    assert told("none", types="0")[1] is None


@pytest.mark.parametrize(("method", "splits"), [("auto", 1), ("auto", 3), ("neighbours", 2)])
def test_a_check_can_be_repeated(method, splits):
    ratings = Ratings.read(make_ratings(60, 30, random_state=0).table())
    choice = choose_recommender(ratings, method=method, n_components=3, n_splits=splits)
    assert choice.check.n_splits == splits
    again = check_again(choice.model, ratings, chosen=method == "auto", n_splits=splits)
    np.testing.assert_array_equal(again.rating, choice.check.rating)
    np.testing.assert_allclose(again.predicted, choice.check.predicted, atol=1e-10)
    assert len(repr(choice)) < 200
