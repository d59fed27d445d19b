"""Imports point down, without cycles. A family of FAMILIES imports no other family, except the
kernels of _positions. Only the modules of an adapter import it: _numba, sparse, onnx and dask."""

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FAMILIES = ("_positions", "_selection", "_unique", "_gather")
# Package or module: the packages and modules of fastsel that it may import. Families also import
# the kernels of _positions: the bitmask, and the outputs written from it.
BELOW = {
    "_version": (),
    "_simd": (),
    "_core": ("_simd", "_version"),
    **dict.fromkeys(FAMILIES, ("_core", "_simd")),
    "_sets": ("_core", "_simd", *FAMILIES),
    "_patch": ("_core", "_sets", *FAMILIES),
    "": ("_core", "_patch", "_sets", "_version", *FAMILIES),  # fastsel/__init__.py
    "_numba": ("",),
    "sparse": ("_core", *FAMILIES),
    "onnx": ("_core", *FAMILIES),
    "dask": ("", "_core", "_sets", *FAMILIES),
    "_cli": ("", "_core", "_patch", "_unique"),
    "__main__": ("_cli",),
}
CIMPORT = re.compile(r"^from (fastsel[\w.]*) cimport (\(.*?\)|[^\n]*)", re.M | re.S)
INCLUDE = re.compile(r'^\s*(?:#\s*include|cdef extern from) "(\w+\.h)"', re.M)


def name_of(path):
    """fastsel/_core/results.pyx -> fastsel._core.results; an included file keeps its ending."""
    parts = path.relative_to(ROOT).parts
    if path.suffix in (".h", ".pxd"):
        return ".".join(parts)
    parts = (*parts[:-1], path.stem)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = sorted(
    path
    for pattern in ("*.py", "*.pyx", "*.pxd", "*.h")
    for path in (ROOT / "fastsel").rglob(pattern)
)
MODULES = {name_of(path) for path in FILES}
HEADERS = {path.name: name_of(path) for path in FILES if path.suffix == ".h"}  # file name: module


def modules_of(base, names, ending=""):
    """The modules that ``from base import names`` imports: submodules of base, or base itself."""
    submodules = {f"{base}.{name}{ending}" for name in names}
    return submodules & MODULES or {base + ending}


def imported_by_python(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "an import that names no package"
            yield from modules_of(node.module, [alias.name for alias in node.names])


def imported_by_kernel(text):
    for base, names in CIMPORT.findall(text):
        yield from modules_of(base, re.split(r"[\s,]+", names.strip("()")), ".pxd")
    yield from (HEADERS[header] for header in INCLUDE.findall(text) if header in HEADERS)


def imports():
    """module: the modules of fastsel that it imports, at its head or in its functions."""
    imported = {name: set() for name in MODULES}
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        names = (imported_by_python if path.suffix == ".py" else imported_by_kernel)(text)
        imported[name_of(path)] |= {name for name in names if name in MODULES}
        if path.suffix == ".pyx":  # a kernel includes its .pxd
            imported[name_of(path)] |= {name_of(path) + ".pxd"} & MODULES
    return imported


IMPORTS = imports()


def package_of(name):
    return [*name.split("."), ""][1]


def is_kernel(name):
    """Whether the module is compiled, or included by a compiled one."""
    return name.endswith((".pxd", ".h")) or name in {
        name_of(path) for path in FILES if path.suffix == ".pyx"
    }


def test_no_import_is_circular():
    order = list(TopologicalSorter(IMPORTS).static_order())  # raises CycleError
    assert order.index("fastsel._simd.levels.pxd") < order.index("fastsel._positions.bitmask")
    assert order.index("fastsel._core._gate") < order.index("fastsel._unique._unique")


@pytest.mark.parametrize("package", sorted({package_of(name) for name in MODULES}))
def test_imports_point_down(package):
    allowed = {package, *BELOW[package]}
    for name in MODULES:
        for other in IMPORTS[name] if package_of(name) == package else ():
            bitmask = package in FAMILIES and other.startswith("fastsel._positions.")
            assert package_of(other) in allowed or (bitmask and is_kernel(other)), (name, other)


@pytest.mark.parametrize("path", [f for f in FILES if f.suffix in (".pyx", ".pxd")], ids=name_of)
def test_kernels_import_no_python_module_of_fastsel(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"^\s*(from fastsel\S* import|import fastsel)", text, re.M)
    assert all(map(is_kernel, IMPORTS[name_of(path)]))
