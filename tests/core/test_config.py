"""show_config, FASTSEL_CPU, and invalid environment variables, which cause a warning, but no failed
import."""

import pytest

import fastsel

LEVELS = ("base", "neon", "v3", "v4")
IMPORT = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import fastsel
assert fastsel.unique([3, 1, 3]).tolist() == [1, 3]
print([str(w.message) for w in caught if w.category is RuntimeWarning])
"""


def test_show_config_prints_what_it_returns(capsys):
    assert fastsel.show_config() is None
    printed = capsys.readouterr().out
    for name, value in fastsel.show_config(mode="dicts").items():
        assert name in printed
        assert str(value) in printed


def test_show_config_raises_a_value_error_for_other_modes():
    with pytest.raises(ValueError, match="mode must be 'stdout' or 'dicts', got 'json'"):
        fastsel.show_config(mode="json")


@pytest.mark.parametrize(
    "name", ["FASTSEL_HASH_SEED", "FASTSEL_CPU", "FASTSEL_KEEP_MB", "FASTSEL_NUM_THREADS"]
)
def test_nonsense_in_the_environment_is_ignored_with_a_warning(name, run_forked):
    printed = run_forked(IMPORT, **{name: "avx9"})
    assert name in printed
    assert "avx9" in printed


@pytest.mark.parametrize("level", LEVELS)
def test_fastsel_cpu_is_the_highest_level_that_is_used(level, run_forked):
    code = "import fastsel; print(fastsel.show_config(mode='dicts')['kernels'])"
    used = run_forked(code, FASTSEL_CPU=level).split(",")[0].strip()
    assert used in LEVELS[: LEVELS.index(level) + 1]
