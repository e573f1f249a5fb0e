"""A new table read with the roles of an old one."""

import pytest

from tacit.tables import open_table

OLD = {
    "id": [f"r{j}" for j in range(40)],
    "height": [150 + j + 0.5 for j in range(40)],
    "colour": ["red", "blue"] * 20,
    "grade": [1, 2, 3, 4] * 10,
    "joined": ["2024-01-31", "2023-05-01"] * 20,
    "remark": ["x"] * 40,
}


@pytest.fixture
def known():
    return [column.saved() for column in open_table(OLD, roles={"joined": "measurement"}).columns]


def test_roles_levels_and_order_are_those_of_the_model(known):
    new = {
        "grade": ["4", "1.0", "9"], "colour": ["RED", "green", None], "id": ["a", "b", "c"], "joined": ["31.01.2024"] * 3,
        "height": ["160,5", "1", ""], "extra": [1, 2, 3],
    }  # fmt: skip
    table = open_table(new, like=known)
    assert [column.name for column in table.used] == ["height", "colour", "grade", "joined"]
    assert table.schema.levels == {"colour": ("blue", "red"), "grade": ("1", "2", "3", "4")}
    cells = table.cells
    assert cells[0].tolist() == [160.5, 1.0, 3.0, 19753.0]
    assert cells[1, 2] == 0.0
    assert str(cells[1:, 1].tolist()) == "[nan, nan]"
    assert str(cells[2].tolist()) == "[nan, nan, nan, 19753.0]"
    assert table.notes == (
        "grade: 1 cell holds '9', which the model does not know; taken as missing",
        "colour: 1 cell holds 'green', which the model does not know; taken as missing",
    )
    assert {column.name: column.n_missing for column in table.used} == {
        "height": 1,
        "colour": 2,
        "grade": 1,
        "joined": 0,
    }
    assert (table.ids, next(c for c in table.columns if c.name == "extra").left_out) == (
        ["id"],
        "not used by the model",
    )


def test_columns_that_are_constant_or_empty_now_are_still_read(known):
    table = open_table({"height": [170.0], "colour": [None], "grade": [2], "joined": ["2024-01-01"]}, like=known)
    assert str(table.cells.tolist()) == "[[170.0, nan, 1.0, 19723.0]]"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"height": None, "heigth": [1.5]},
            "the table has no column 'height', which the model uses; did you mean 'heigth'?",
        ),
        ({"height": ["tall"]}, "the table: column 'height' holds 'tall', but the model was fitted to numbers there."),
        (
            {"height": ["2024-01-31"]},
            "the table: column 'height' holds '2024-01-31', but the model was fitted to numbers there.",
        ),
        ({"joined": [3]}, "the table: column 'joined' holds '3', but the model was fitted to dates there."),
    ],
)
def test_tables_that_do_not_fit(known, change, message):
    new = {"height": [170.5], "colour": ["red"], "grade": [2], "joined": ["2024-01-01"]} | change
    with pytest.raises(ValueError) as caught:
        open_table({name: cells for name, cells in new.items() if cells is not None}, like=known)
    assert str(caught.value) == message


def test_a_model_saved_and_applied_elsewhere(tmp_path, known):
    import tacit
    from tacit.mixture import Mixture
    from tacit.persistence import notes

    table = open_table(OLD)
    model = Mixture(2, max_iter=3, random_state=0).fit(table.source())
    columns = [column.saved() for column in table.columns]
    tacit.save(model, tmp_path / "m.tacit", notes={"table": {"name": "t", "columns": columns}})
    again = open_table(OLD, like=notes(tmp_path / "m.tacit")["table"]["columns"])
    assert again.schema == table.schema
    assert (tacit.load(tmp_path / "m.tacit").predict(again.source()) == model.predict(table.source())).all()
