"""Models on disk: exact, atomic, and safe to open whoever wrote them."""

import io
import json
import os
import pickle
import random
import re
import zipfile

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.mixture import GaussianMixture as SklearnMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tacit
from tacit import persistence
from tacit.engine import Trace
from tacit.impute import GaussianImputer
from tacit.mixture import GaussianMixture
from tacit.testing import close

from .zoo import gaussian_rows, with_missing

X = with_missing(gaussian_rows())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.tacit"


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """The bytes of a sound file."""
    path = tmp_path_factory.mktemp("sound") / "model.tacit"
    tacit.save(GaussianMixture(2, random_state=0).fit(X), path)
    return path.read_bytes()


def members(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts, compression=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out.getvalue()


def edited(content, change):
    """The file with its manifest changed in place by change(manifest)."""
    parts = members(content)
    manifest = json.loads(parts["manifest.json"])
    change(manifest)
    return packed({**parts, "manifest.json": json.dumps(manifest)})


def refused(path, content, message=""):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=re.escape("model.tacit' is not a sound tacit model file: ")) as error:
        tacit.load(path)
    assert message in str(error.value)


def assert_same(one, other):
    """Equal in type, settings and every fitted attribute, to the last bit."""
    assert type(one) is type(other)
    assert one.__dict__.keys() == other.__dict__.keys()
    if getattr(one, "_online", None) is not None:
        for record, again in zip((one._online.params, one._online.stats), (other._online.params, other._online.stats)):
            close(record, again, 0.0, "what an online fit goes on from")
    for name, value in vars(one).items():
        if name == "_online":
            continue
        again = getattr(other, name)
        if name == "fit_":
            assert_same_fit(value, again)
        elif name == "draws_":
            for drawn, other_draw in zip(value, again, strict=True):
                close(drawn, other_draw, 0.0, name)
        elif isinstance(value, Trace):
            assert vars(value) == vars(again)
        elif hasattr(value, "get_params"):
            assert_same(value, again)
        else:
            assert np.asarray(value).dtype == np.asarray(again).dtype, name
            np.testing.assert_array_equal(value, again, err_msg=name, strict=isinstance(value, np.ndarray))


def assert_same_fit(one, other):
    assert vars(one.trace) == vars(other.trace)
    for name in ("reason", "converged", "interrupted", "failures"):
        assert getattr(one, name) == getattr(other, name)
    assert type(one.params) is type(other.params)
    # Made again from the attributes, which are single precision where the table was.
    np.testing.assert_allclose(one.params.components.mean, other.params.components.mean, rtol=1e-6)


# Sound files


@pytest.mark.parametrize(
    "estimator",
    [
        GaussianMixture(3, random_state=0),
        GaussianMixture(2, covariance_type="tied", tol=0.0, max_iter=3, convergence="aitken", random_state=0),
        GaussianMixture(2, covariance_type="diag", means_init=np.array([[0.0], [np.pi]]) + np.ones(4)),
        GaussianMixture(2, covariance_type="spherical", weights_init=[0.25, 0.75], random_state=0),
        GaussianImputer(),
        GaussianImputer(2, add_indicator=True, keep_empty_features=True, missing_values=-1.0, random_state=0),
    ],
    ids=["full", "tied", "diag", "spherical", "imputer", "imputer with indicator"],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_round_trip_is_exact(estimator, dtype, path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X.astype(dtype), columns=list("abcd"))
    marker = getattr(estimator, "missing_values", np.nan)
    frame = frame.fillna(marker)
    estimator = clone(estimator).fit(frame)
    tacit.save(estimator, path)
    again = tacit.load(path)
    assert_same(estimator, again)
    assert again.feature_names_in_.tolist() == list("abcd")
    method = "transform" if hasattr(again, "transform") else "score_samples"
    np.testing.assert_array_equal(getattr(again, method)(frame), getattr(estimator, method)(frame), strict=True)


def test_infinite_and_missing_settings_survive(path):
    fitted = GaussianMixture(1, tol=np.inf, verbose_interval=np.int32(3)).fit(X)
    tacit.save(fitted, str(path))
    again = tacit.load(str(path))
    assert again.tol == np.inf
    assert again.verbose_interval == 3
    assert again.random_state is None
    tacit.save(GaussianImputer().fit(X), path)
    assert np.isnan(tacit.load(path).missing_values)


def test_a_loaded_model_goes_on_learning(path):
    fitted = GaussianMixture(2, random_state=0, warm_start=True, tol=1e-4).fit(X)
    tacit.save(fitted, path)
    again = tacit.load(path).fit(X)
    assert again.lower_bounds_ == fitted.fit(X).lower_bounds_


def test_settings_that_cannot_be_saved_become_none(path):
    fitted = GaussianMixture(2, callback=lambda progress: None, random_state=np.random.RandomState(0)).fit(X)
    with pytest.warns(UserWarning, match="cannot be saved") as caught:
        tacit.save(fitted, path)
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == 2
    assert re.fullmatch(
        r"callback=<function .*> cannot be saved; the loaded model will have callback=None\.", messages[0]
    )
    assert re.fullmatch(r"random_state=RandomState\(.*\).* cannot be saved; .* have random_state=None\.", messages[1])
    again = tacit.load(path)
    assert again.callback is None
    assert again.random_state is None
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))


@pytest.mark.parametrize("estimator", [GaussianMixture(), GaussianImputer()])
def test_an_unfitted_model_is_not_saved(estimator, path):
    with pytest.raises(ValueError, match=f"this {type(estimator).__name__} is not fitted; call fit before saving it"):
        tacit.save(estimator, path)
    assert list(path.parent.iterdir()) == []


def test_other_things_are_not_saved(path):
    for thing in ({"a": 1}, len, SklearnMixture().fit(gaussian_rows())):
        with pytest.raises(TypeError, match=f"{type(thing).__name__}.* cannot be saved"):
            tacit.save(thing, path)
    steps = make_pipeline(StandardScaler(), GaussianMixture()).fit(gaussian_rows())
    with pytest.raises(
        TypeError, match=r"one by one, as tacit\.save\(pipeline\['gaussianmixture'\], path\), or .*joblib"
    ):
        tacit.save(steps, path)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("where", ["write_array", "fsync", "replace"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()], ids=["OSError", "KeyboardInterrupt"])
def test_a_failure_while_writing_leaves_the_old_file(where, error, path, monkeypatch):
    tacit.save(GaussianMixture().fit(X), path)
    before = path.read_bytes()

    def fail(*args, **kwargs):
        raise error

    home = np.lib.format if where == "write_array" else persistence.os
    fitted = GaussianMixture(2, random_state=0).fit(X)
    with monkeypatch.context() as patch:
        patch.setattr(home, where, fail)
        with pytest.raises(type(error)):
            tacit.save(fitted, path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]
    tacit.save(fitted, path)
    assert tacit.load(path).n_components == 2
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_the_file_may_be_read_by_whom_other_files_may(path):
    tacit.save(GaussianMixture().fit(X), path)
    (path.parent / "other").write_text("")
    assert path.stat().st_mode == (path.parent / "other").stat().st_mode


def test_missing_files_and_folders_are_named(path):
    with pytest.raises(FileNotFoundError, match=re.escape("model.tacit")):
        tacit.load(path)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        tacit.save(GaussianMixture().fit(X), path.parent / "nowhere" / "model.tacit")
    for folder in (".", "", str(path.parent), f"{path.parent}/new/"):
        with pytest.raises(
            IsADirectoryError, match=re.escape(f"{folder!r} is not the name of a file; give one, such as 'model")
        ):
            tacit.save(GaussianMixture().fit(X), folder)
    with pytest.raises(IsADirectoryError, match="is a folder; give the path of a file"):
        tacit.load(path.parent)


# Hostile files


@pytest.mark.parametrize("content", [b"", b"tacit", b"PK\x03\x04" + bytes(100), pickle.dumps([1, 2])])
def test_not_a_zip_file(content, path):
    refused(path, content, "not a zip file")


def test_cut_anywhere(content, path):
    for length in range(0, len(content), 37):
        refused(path, content[:length])


def _loads_or_refuses(path, content):
    path.write_bytes(content)
    try:
        loaded = tacit.load(path)
    except ValueError:
        return False
    assert isinstance(loaded, (GaussianMixture, GaussianImputer))
    return True


@pytest.mark.filterwarnings("ignore")
def test_flipped_bytes(content, path):
    rng = random.Random(0)
    loaded = 0
    for _ in range(300):
        damaged = bytearray(content)
        for _ in range(rng.choice([1, 2, 8])):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        loaded += _loads_or_refuses(path, bytes(damaged))
    assert loaded < 100


@pytest.mark.filterwarnings("ignore")
def test_flipped_bytes_under_a_right_checksum(content, path):
    rng, parts = random.Random(1), members(content)
    for _ in range(400):
        name = rng.choice(["manifest.json", *parts])
        damaged = bytearray(parts[name])
        reach = len(damaged) if name == "manifest.json" else 128
        for _ in range(rng.choice([1, 2, 8])):
            damaged[rng.randrange(reach)] = rng.choice([rng.randrange(256), *b'0129[]{}(),:"-.eE'])
        _loads_or_refuses(path, packed({**parts, name: bytes(damaged)}))


def test_pickled_arrays_are_not_unpickled(content, path):
    marker = path.parent / "executed"

    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(marker),)

    pickled = io.BytesIO()
    np.save(pickled, np.array([Bomb()], dtype=object), allow_pickle=True)
    refused(path, packed({**members(content), "0.npy": pickled.getvalue()}), "array 0 has type object")
    refused(path, packed({**members(content), "0.npy": pickle.dumps(Bomb())}))
    assert not marker.exists()


@pytest.mark.parametrize("dtype", ["S8", "U2", "M8[s]", "c16", [("a", "f8")], "V8"])
def test_only_numbers_are_read(dtype, content, path):
    array = io.BytesIO()
    np.save(array, np.zeros(2, dtype=dtype))
    refused(path, packed({**members(content), "0.npy": array.getvalue()}), "only numbers are read")


@pytest.mark.parametrize("shape", ["(2000000000000,)", "(1, -2)", "(-1, -2)", "(0,)", "(2, 2)", "()"])
def test_an_array_must_be_as_long_as_its_header_says(shape, content, path):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(16)
    refused(path, packed({**members(content), "0.npy": array}), "array 0 should have")


def test_an_unclosed_header_is_refused(content, path):
    parts = members(content)
    refused(path, packed({**parts, "0.npy": parts["0.npy"].replace(b"}", b" ")}))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("weights_", lambda a: -a, "'weights_' holds -"),
        ("weights_", lambda a: a / 2, "'weight' sums to 0.5, not to 1"),
        ("weights_", lambda a: a * np.nan, "'weights_' holds nan, which is no finite number"),
        ("weights_", lambda a: np.resize(a, 3), "'weights_' has shape (3,), not 2"),
        ("means_", lambda a: a.astype("f2"), "has type float16; only numbers are read"),
        ("means_", lambda a: 1e200 * a, "not from -1e+152 to 1e+152"),
        ("covariances_", lambda a: a + 99.0 * (1.0 - np.eye(4)), "'covariance' must be symmetric and positive definite"),
        ("covariances_", lambda a: a + np.triu(np.ones((4, 4)), 1), "'covariance' must be symmetric and positive definite"),
        ("covariances_", lambda a: a[:, :3], "'covariances_' has shape (2, 3, 4), not 2 × 4 × 4"),
    ],
)  # fmt: skip
def test_arrays_are_what_the_class_declares(name, change, message, content, path):
    parts = members(content)
    key = json.loads(parts["manifest.json"])["estimator"]["fitted"][name]["array"]
    array = io.BytesIO()
    np.save(array, change(np.load(io.BytesIO(parts[f"{key}.npy"]))))
    refused(path, packed({**parts, f"{key}.npy": array.getvalue()}), message)


def test_bytes_in_another_order_are_the_same_numbers(content, path):
    parts = members(content)
    swapped = {}
    for name, data in parts.items():
        if name.endswith(".npy"):
            array, out = np.load(io.BytesIO(data)), io.BytesIO()
            np.save(out, np.array(array, dtype=array.dtype.newbyteorder(">"), order="F"))
            swapped[name] = out.getvalue()
    path.write_bytes(content)
    expected = tacit.load(path).predict_proba(X)
    path.write_bytes(packed(parts | swapped))
    np.testing.assert_array_equal(tacit.load(path).predict_proba(X), expected)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_are_there_and_read_once(content, path):
    parts = members(content)
    twice = io.BytesIO(content)
    with zipfile.ZipFile(twice, "a") as archive:
        archive.writestr("0.npy", parts["0.npy"])
    refused(path, twice.getvalue(), "it holds two members of one name")
    refused(path, edited(content, lambda m: m["estimator"]["settings"].update(means_init={"array": "0"})), "'0.npy'")
    without = {name: part for name, part in parts.items() if name != "0.npy"}
    refused(path, packed(without), "the array '0.npy' is missing, or named twice; write the file again")


def test_compressed_members_are_refused(content, path):
    refused(path, packed(members(content), zipfile.ZIP_DEFLATED), "compressed members, which tacit never writes")
    bomb = packed({**members(content), "9.npy": bytes(10_000_000)}, zipfile.ZIP_DEFLATED)
    assert len(bomb) < 100_000
    refused(path, bomb, "compressed members")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m["estimator"].update({"class": "Popen"}), "it names the class 'Popen', which is no estimator"),
        (lambda m: m["estimator"].update({"home": "subprocess"}), "it names the package 'subprocess', which has no estimators"),
        (lambda m: m["estimator"].update({"home": "tacit.families", "class": "Family"}), "which is no estimator"),
        (lambda m: m["estimator"].update({"class": "os.system"}), "it names the class 'os.system'"),
        (lambda m: m["estimator"].update({"class": ["GaussianMixture"]}), ""),
        (lambda m: m["estimator"]["fitted"].update(predict=1), "it sets 'predict', which is no attribute of"),
        (lambda m: m["estimator"]["fitted"].update(__class__=1), "it sets '__class__', which is no attribute of"),
        (lambda m: m["estimator"]["settings"].update(shell=True), "it sets 'shell', which is no setting of"),
        (lambda m: m["estimator"]["settings"].update(tol={"code": "1"}), "an entry of unknown kind 'code'"),
        (lambda m: m["estimator"]["settings"].update(tol={"float": "1", "x": 1}), "an entry of unknown kind"),
        (lambda m: m["estimator"]["settings"].update(tol={}), ""),
        (lambda m: m["estimator"]["settings"].update(tol=-1.0), "tol=-1.0 is not a number of at least 0"),
        (lambda m: m["estimator"]["settings"].update(n_components=10**9), "'weights_' has shape (2,), not 1000000000"),
        (lambda m: m["estimator"]["fitted"].update(n_features_in_=20000), "'means_' has shape (2, 4), not 2 × 20000"),
        (lambda m: m["estimator"]["fitted"].pop("weights_"), "it does not say 'weights_', which a GaussianMixture needs"),
        (lambda m: m["estimator"]["online"].update(weight=0), "'weight' holds 0, which must be greater than 0"),
        (lambda m: m["estimator"]["settings"].update(tol=[1]), "a bare list"),
        (lambda m: m["estimator"]["settings"].update(tol={"array": "../../0"}), "'../../0'"),
        (lambda m: m["estimator"]["settings"].update(tol={"array": "77"}), "77.npy"),
        (lambda m: m["estimator"].pop("fitted"), "'fitted'"),
        (lambda m: m.pop("estimator"), "'estimator'"),
        (lambda m: m.update(format=2), "its format is 2, newer than 1; upgrade tacit"),
        (lambda m: m.update(format="1"), ""),
        (lambda m: m.pop("format"), "'format'"),
    ],
)  # fmt: skip
def test_a_manifest_may_only_say_what_save_writes(change, message, content, path):
    refused(path, edited(content, change), message)


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ("", ""), ("{", ""), (b"\xff\xfe\x00", ""), ("null", "its manifest.json holds a NoneType, not an object with names"),
        ("[]", "its manifest.json holds a list, not"), ("3", "its manifest.json holds a int, not"),
        ('{"format": NaN}', "its manifest has no 'format' that save wrote"),
        ('{"format": 1, "estimator": [1]}', "its manifest has no 'estimator' that save wrote"),
    ],
)  # fmt: skip
def test_a_manifest_that_is_no_object(manifest, message, content, path):
    refused(path, packed({**members(content), "manifest.json": manifest}), message)
    refused(path, packed({"other.json": "{}"}), "it holds no manifest.json")


@pytest.mark.parametrize("opening", ["[", '{"a":', '{"list": ['])
def test_deep_nesting_is_refused(opening, content, path):
    closing = {"[": "]", '{"a":': "}", '{"list": [': "]}"}[opening]
    nested = opening * 100_000 + "1" + closing * 100_000
    manifest = f'{{"format": 1, "estimator": {{"class": "GaussianMixture", "settings": {{"tol": {nested}}}}}}}'
    refused(path, packed({**members(content), "manifest.json": manifest}), "recursion")


# Notes


def test_notes_come_back_and_the_same_content_is_the_same_bytes(path, monkeypatch):
    model = GaussianMixture(2, random_state=0).fit(X)
    notes = {"table": {"name": "t", "columns": [{"name": "é", "levels": ["a", None, 1.5, True]}]}, "seed": 0}
    tacit.save(model, path, notes=notes)
    assert persistence.notes(path) == notes
    first = path.read_bytes()
    monkeypatch.setattr("time.time", lambda: 2e9)
    tacit.save(model, path, notes=notes)
    assert path.read_bytes() == first
    tacit.save(model, path)
    assert persistence.notes(path) == {}
    np.testing.assert_array_equal(tacit.load(path).means_, model.means_)


@pytest.mark.parametrize(
    ("notes", "message"),
    [
        (["a"], "notes must be a dictionary, not list"),
        ("text", "notes must be a dictionary, not str"),
        ({"a": np.ones(2)}, "notes hold what JSON cannot: Object of type ndarray"),
        ({"a": float("nan")}, "notes hold what JSON cannot: Out of range float"),
        ({("a",): 1}, "notes hold what JSON cannot: keys must be str"),
    ],
)
def test_notes_are_plain(notes, message, path):
    with pytest.raises(TypeError, match=message):
        tacit.save(GaussianMixture(random_state=0).fit(X), path, notes=notes)
    assert not path.exists()


def test_notes_have_a_size(path, monkeypatch):
    monkeypatch.setattr(persistence, "MOST_NOTES", 100)
    with pytest.raises(ValueError, match="notes take 211 characters; keep them below 100"):
        tacit.save(GaussianMixture(random_state=0).fit(X), path, notes={"text": "x" * 199})
    assert not path.exists()


@pytest.mark.parametrize("notes", [[1, 2], "text", 3, None, [["a", "b"]]])
def test_hostile_notes_are_refused(notes, content, path):
    parts = members(content)
    manifest = json.loads(parts["manifest.json"]) | {"notes": notes}
    path.write_bytes(packed({**parts, "manifest.json": json.dumps(manifest).encode()}))
    with pytest.raises(ValueError, match=f"its notes are a {type(notes).__name__}, not a dictionary"):
        persistence.notes(path)
    tacit.load(path)
