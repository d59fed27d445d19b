"""unique of NaN objects and of missing strings of StringDType, which are one value or distinct."""

from decimal import Decimal

import numpy as np
import pytest
from arrays import objects
from comparison import assert_same, outcome
from hypothesis import given
from hypothesis import strategies as st

import fastsel


@pytest.mark.parametrize("equal_nan", [True, False])
def test_missing_strings_are_one_value_or_distinct(equal_nan):
    """equal_nan applies to NaN and to pandas' NA, but not to None, which equals itself."""
    pd = pytest.importorskip("pandas", reason="needs pip install pandas")
    for missing, is_one in ((None, True), (float("nan"), equal_nan), (pd.NA, equal_nan)):
        texts = ["b", missing, "a", missing, "b"]
        array = np.array(texts, np.dtypes.StringDType(na_object=missing))
        values, counts = fastsel.unique(
            array, return_counts=True, equal_nan=equal_nan, sorted=False
        )  # fmt: skip
        assert list(map(str, values)) == list(map(str, texts[: 3 if is_one else 4]))
        assert counts.tolist() == ([2, 2, 1] if is_one else [2, 1, 1, 1])


NAN = float("nan")
FLAGS = ((), (True,), (False, True), (False, False, True), (True, True, True))


def expected_outputs(items, groups):
    """The outputs for groups of positions."""
    inverse = np.empty(len(items), np.intp)
    for group_id, group in enumerate(groups):
        inverse[list(group)] = group_id
    index = np.array([group[0] for group in groups])
    return items[index], index, inverse, np.array([len(group) for group in groups])


def check_groups(items, groups, **rules):
    """Check that unique returns the outputs for `groups`, for each choice of outputs in FLAGS."""
    expected = expected_outputs(items, groups)
    for flags in FLAGS:
        outputs = fastsel.unique(items, *flags, **rules)
        extras = [part for part, flag in zip(expected[1:], flags, strict=False) if flag]
        assert_same(outputs, (expected[0], *extras) if extras else expected[0])


@pytest.mark.parametrize("other", [NAN, np.float32("nan"), Decimal("nan"), complex("nan")])
def test_nan_objects_are_one_value_or_distinct(other):
    items = objects(2.0, NAN, 0.5, NAN, other, 2.0)
    check_groups(items, [(0, 5), (1, 3, 4), (2,)], sorted=False)
    check_groups(items, [(0, 5), (1,), (2,), (3,), (4,)], sorted=False, equal_nan=False)
    assert_same(fastsel.unique_values(items), items[[0, 1, 2, 3, 4]])
    if not isinstance(other, Decimal | complex):  # these NaN cannot be ordered among floats
        check_groups(items, [(2,), (0, 5), (1, 3, 4)])
        check_groups(items, [(2,), (0, 5), (1,), (3,), (4,)], equal_nan=False)


def test_nan_objects_in_many_items_are_one_value_that_sorts_last():
    """NumPy's sort would put NaN anywhere, because no item is less or greater than NaN."""
    rng = np.random.default_rng(0)
    items = rng.integers(0, 50, 3000).astype(object)
    items[rng.random(3000) < 0.2] = NAN
    values, counts = fastsel.unique(items, return_counts=True)
    floats, float_counts = np.unique(items.astype(float), return_counts=True)
    assert values.astype(float).tolist()[:-1] == floats.tolist()[:-1]
    assert values[-1] is NAN
    assert counts.tolist() == float_counts.tolist()


def test_nan_objects_without_hash_give_the_result_of_numpy():
    class Unhashable(float):
        __hash__ = None

    items = objects(*map(Unhashable, (2, 1, NAN, 2)))
    assert_same(fastsel.unique(items, True, True, True), np.unique(items, True, True, True))


@pytest.mark.parametrize(
    "items", [(1, NAN, "a"), (NAN, None), (Decimal(1), Decimal("nan")), (1j, NAN), ("a", NAN)]
)
def test_nan_beside_items_without_order_raises_as_numpy_does(items):
    for flags in FLAGS:
        expected = outcome(np.unique, objects(*items), *flags)
        assert expected[0] == "raises"
        assert outcome(fastsel.unique, objects(*items), *flags)[:2] == expected[:2]


TEXTS = ["", "\0", "a", "b", "a\0", "a\0a", "a\0b", "a\0\0", "\0a", "é", "\U0001f600", "x" * 40]


@pytest.mark.parametrize("missing", [None, NAN, "a", "zz"], ids=["none", "nan", "text", "new_text"])
@pytest.mark.parametrize("equal_nan", [True, False])
@given(texts=st.lists(st.sampled_from([*TEXTS, None]), min_size=1, max_size=60))
def test_any_strings_of_string_dtype_are_grouped_as_by_a_dict(missing, equal_nan, texts):
    """NUL counts like any character. If na_object is a string, missing items equal that string."""
    items = [missing if text is None else text for text in texts]
    array = np.array(items, np.dtypes.StringDType(na_object=missing))
    groups = {}
    for k, item in enumerate(items):
        is_missing = not isinstance(item, str)
        nans_are_distinct = missing is NAN and not equal_nan
        key = (is_missing, (k if nans_are_distinct else 0) if is_missing else item)
        groups.setdefault(key, []).append(k)
    check_groups(array, list(groups.values()), sorted=False, equal_nan=equal_nan)
    ascending = [groups[key] for key in sorted(groups)]
    if missing is None and None in items:
        if len(items) > 1:
            assert outcome(fastsel.unique, array) == outcome(np.unique, array)
    else:
        check_groups(array, ascending, equal_nan=equal_nan)


def test_many_strings_of_string_dtype_equal_numpy():
    rng = np.random.default_rng(1)
    texts = rng.choice([f"{k}\0{k % 7}" for k in range(5000)], 20_000)
    array = texts.astype(np.dtypes.StringDType())
    ours = fastsel.unique(array, True, True, True)
    theirs = np.unique(texts, True, True, True)
    assert ours[0].tolist() == theirs[0].tolist()
    assert_same(ours[1:], theirs[1:])
