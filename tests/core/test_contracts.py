"""The contracts that a checked build checks (FS_REQUIRE of level.h)."""

from pathlib import Path

import pytest

from fastsel._unique import groups

pytestmark = pytest.mark.skipif(
    b"broken contract" not in Path(groups.__file__).read_bytes(),
    reason="only a build with FASTSEL_CHECKED=1 checks contracts",
)


@pytest.mark.parametrize(
    "call",
    [
        "groups.values_at(np.arange(3), np.array([0, 3]))",
        "groups.values_at(np.arange(3), np.array([-1]))",
    ],
)
def test_a_call_that_breaks_a_contract_ends_the_process(call, run_python):
    code = f"import numpy as np; from fastsel._unique import groups; {call}"
    with pytest.raises(AssertionError, match="broken contract: "):
        run_python(code)
