"""The "See Also" of API pages, and an inventory of NumPy's pages for a build without a network.

The names below one heading of reference.md are siblings. `OPERATORS` says which of them NumPy and
fastsel.dask have, too.
"""

import importlib
import inspect
import re
import zlib
from pathlib import Path

from fastsel._core._operators import OPERATORS

REFERENCE = Path(__file__).with_name("reference.md")
INVENTORY_HEAD = (
    b"# Sphinx inventory version 2\n# Project: NumPy\n# Version: \n"
    b"# The remainder of this file is compressed using zlib.\n"
)


def groups():
    """For each heading of the reference, the full names of the functions below it."""
    found = []
    for section in re.split("^## ", REFERENCE.read_text(encoding="utf-8"), flags=re.MULTILINE):
        module = (re.findall(r"currentmodule:: (\S+)", section) or ["fastsel"])[-1]
        names = re.findall(r"^   ([a-z]\w*)$", section, re.MULTILINE)
        found.append([f"{module}.{name}" for name in names])
    return found


def siblings(full_name):
    """The other functions below the same heading. The functions of fastsel.dask are grouped like
    the functions of fastsel with the same names."""
    module = full_name.rpartition(".")[0]
    own = full_name.replace("fastsel.dask.", "fastsel.")
    for group in groups():
        if own in group:
            names = [sibling.rpartition(".")[2] for sibling in group if sibling != own]
            if module == "fastsel.dask":
                names = [sibling for sibling in names if OPERATORS[sibling].in_dask]
            return [f"{module}.{sibling}" for sibling in names]
    return []


def see_also(full_name):
    """The lines of the section; none if there is nothing to refer to."""
    module, _, name = full_name.rpartition(".")
    operator = OPERATORS.get(name)
    entries = []
    if operator and module == "fastsel":
        if operator.in_numpy:
            entries.append((f"numpy.{name}", "The function that it equals."))
        if operator.in_dask:
            entries.append((f"fastsel.dask.{name}", "The same on dask arrays."))
    if operator and module == "fastsel.dask":
        entries.append((f"fastsel.{name}", "The same on NumPy arrays."))
    entries += [(sibling, summary_of(sibling)) for sibling in siblings(full_name)]
    if not entries:
        return []
    lines = [line for entry, words in entries for line in (f"{entry} :", f"    {words}")]
    return ["", "See Also", "--------", *lines]


def summary_of(full_name):
    """The first sentence of a docstring, up to a semicolon."""
    module, _, name = full_name.rpartition(".")
    found = getattr(importlib.import_module(module), name)
    paragraph = inspect.getdoc(found).partition("\n\n")[0].replace("\n", " ")
    first = re.split(r"; |(?<=\.) ", paragraph)[0]
    return first.rstrip(".") + "."


def write_inventory(path):
    """Write the inventory of the pages of NumPy to which a "See Also" links."""
    names = [f"numpy.{name}" for name, operator in OPERATORS.items() if operator.in_numpy]
    lines = [f"{name} py:function 1 reference/generated/{name}.html#$ -\n" for name in names]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(INVENTORY_HEAD + zlib.compress("".join(lines).encode()))
