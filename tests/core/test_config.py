"""show_config, FASTSEL_CPU, and invalid environment variables, which cause a warning, but no failed
import."""

import re
from pathlib import Path

import pytest

import fastsel
from fastsel._core import _show_config

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


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("FASTSEL_NUM_THREAD", "FASTSEL_NUM_THREADS"),
        ("FASTSEL_KEEPMB", "FASTSEL_KEEP_MB"),
        ("FASTSEL_X", " or ".join(_show_config.RUN_VARIABLES)),
    ],
)
def test_a_misspelt_variable_is_named_once_and_in_the_configuration(name, meant, run_forked):
    code = IMPORT + "print(fastsel.show_config(mode='dicts')['environment'])"
    warned, shown = run_forked(code, **{name: "2"}).splitlines()
    assert eval(warned) == [f"fastsel has no environment variable {name}: did you mean {meant}?"]
    assert f"{name}=2" in shown
    assert shown.endswith(f"(unknown: {name})")


def test_variables_of_the_build_and_of_tests_are_known(run_forked):
    setup = (Path(__file__).parents[2] / "setup.py").read_text(encoding="utf-8")
    used = {*re.findall(r"^FASTSEL_\w+", setup, re.MULTILINE)}  # in its docstring
    assert "FASTSEL_SANITIZE" in used
    assert {*used, "FASTSEL_LONG"} == {*_show_config.BUILD_VARIABLES}
    code = IMPORT + "print(fastsel.show_config(mode='dicts')['environment'])"
    warned, shown = run_forked(code, **dict.fromkeys(_show_config.BUILD_VARIABLES, "")).splitlines()
    assert warned == "[]"
    assert "unknown" not in shown


@pytest.mark.parametrize("level", LEVELS)
def test_fastsel_cpu_is_the_highest_level_that_is_used(level, run_forked):
    code = "import fastsel; print(fastsel.show_config(mode='dicts')['kernels'])"
    used = run_forked(code, FASTSEL_CPU=level).split(",")[0].strip()
    assert used in LEVELS[: LEVELS.index(level) + 1]
