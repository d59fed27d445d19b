"""Where wheels are built and tested, and whether what is needed there has wheels.

The Pythons stand in `build` of `[tool.cibuildwheel]`, the runners and what pip calls their platforms
in `[tool.fastsel.runners]` of pyproject.toml, and nowhere else. Without an option, pip resolves each
extra for each platform and Python, without installing anything, and a table shows which package has
no wheel. The status is 1 if the tests of a wheel miss one.

pip evaluates markers of dependencies of dependencies for the Python that it runs on. Those of the
extras themselves are evaluated here, for the target.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
WHEELS = SETTINGS["tool"]["cibuildwheel"]
RUNNERS = SETTINGS["tool"]["fastsel"]["runners"]
WHEEL_TESTS = "tests of a wheel"

# A Python as cibuildwheel (cp314t) and as setup-python names it (3.14t), and without the t.
Python = namedtuple("Python", ["tag", "name", "version"])


def pythons():
    """Those that wheels are for, the oldest first."""
    for selector in WHEELS["build"]:
        tag, major, minor, free = re.fullmatch(r"(cp(\d)(\d+)(t?))-\*", selector).groups()
        yield Python(tag, f"{major}.{minor}{free}", f"{major}.{minor}")


PYTHONS = list(pythons())
WITH_GIL = [python for python in PYTHONS if not python.tag.endswith("t")]


def for_workflows():
    """Lines for $GITHUB_OUTPUT: each Python on the first runner, the oldest and the newest on all."""
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
    """What environment markers see there."""
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
    """The tags of what is installed there. On Linux, pip takes a tag for itself, without those of an
    older libc."""
    linux = re.fullmatch(r"(manylinux|musllinux)_(\d+)_(\d+)_(\w+)", platform)
    if not linux:
        return [platform]
    family, major, newest, machine = linux.groups()
    oldest = {"manylinux": 5, "musllinux": 1}[family]
    tags = [f"{family}_{major}_{k}_{machine}" for k in range(int(newest), oldest - 1, -1)]
    return tags + ([f"manylinux2014_{machine}"] if family == "manylinux" else [])


def of_wheel_tests(platform, python):
    """What cibuildwheel installs beside the wheel."""
    # Such as cp314-musllinux_x86_64, without the version of the platform.
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
    """The first package that has no wheel there, "conflict" if versions exclude each other, or
    nothing."""
    environment = markers(platform, python)
    wanted = []
    for requirement in map(Requirement, [*PROJECT["dependencies"], *requirements]):
        if requirement.marker is None or requirement.marker.evaluate(environment):
            requirement.marker = None  # pip would see its own Python
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
    """Prints a row for each extra and platform, and returns what the tests of a wheel miss."""
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
    with ThreadPoolExecutor() as pool:
        for (name, platform, python), found in zip(cells, pool.map(cell, cells), strict=True):
            if python == PYTHONS[0]:
                print(f"{name:20}{platform:26}", end="")
            print(f"{found[:9] or 'yes':10}", end="\n" if python == PYTHONS[-1] else "", flush=True)
            holes += [found] if found and name == WHEEL_TESTS else []
    return holes


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--outputs", action="store_true", help="print what workflows read")
    parser.add_argument("runners", nargs="*", help="for these alone", metavar="RUNNER")
    parser.add_argument("--wheel-tests", action="store_true", help="the tests of a wheel alone")
    options = parser.parse_args()
    if options.outputs:
        print(*for_workflows(), sep="\n")
        return
    platforms = [name for runner in options.runners or RUNNERS for name in RUNNERS[runner]]
    extras = [] if options.wheel_tests else PROJECT["optional-dependencies"]
    if table([WHEEL_TESTS, *extras], platforms):
        raise SystemExit("the tests of a wheel miss a package")


if __name__ == "__main__":
    main()
