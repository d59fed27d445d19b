"""``fastsel run``: a script or a module as Python itself would run it, with NumPy patched."""

from __future__ import annotations

import builtins
import linecache
import os
import pkgutil
import runpy
import sys
import textwrap
from importlib.machinery import BuiltinImporter, SourceFileLoader
from types import ModuleType

import fastsel
from fastsel._cli._report import Report
from fastsel._cli._workloads import BadInputError


def run(target: str, arguments: list[str], option: str, report: bool, compare: bool) -> None:
    """Run a script, a folder or an archive with a ``__main__.py``; with the option "-m", a module
    by its name; with "-c", the code itself.

    Exceptions of the script are passed on; their tracebacks show no frames of fastsel. sys.path,
    sys.argv and NumPy's functions are not restored: threads and exit handlers may still run, and
    need the same environment as with `python`.

    Raises
    ------
    BadInputError
        If the script cannot be read.
    SystemExit
        If there is no module of the name, or no ``__main__.py`` in the folder or archive.
    """
    sys.argv[:] = ["-c" if option == "-c" else target, *arguments]
    fastsel.patch_numpy()
    if report or compare:
        Report(compare).print_at_exit()
    try:
        if option == "-c":
            replace_first_path([""])
            run_command(target)
        elif option == "-m":
            replace_first_path([os.getcwd()])
            runpy.run_module(target, run_name="__main__", alter_sys=True)
        elif pkgutil.get_importer(target):  # a folder or archive, which run_path puts first
            replace_first_path([])
            runpy.run_path(os.path.abspath(target), run_name="__main__")
        else:
            replace_first_path([os.path.dirname(os.path.realpath(target))])
            if target.endswith(".pyc"):
                runpy.run_path(os.path.abspath(target), run_name="__main__")
            else:
                run_script(target)
    except ImportError as error:
        if name_of_module(last_entry(error.__traceback__)) == runpy.__name__:  # no such module
            sys.exit(f"fastsel run: {error}")
        hide_our_frames(error)
        raise
    except BaseException as error:
        hide_our_frames(error)
        raise


def run_command(code: str) -> None:
    """Run the code of -c."""
    if sys.version_info >= (3, 14):
        code = textwrap.dedent(code)
    if sys.version_info >= (3, 13):  # Tracebacks show its lines.
        lines = code.splitlines(keepends=True)
        linecache.cache["<string>"] = len(code), None, lines, "<string>"
    run_code(code, "<string>", BuiltinImporter)


def run_script(script: str) -> None:
    """Run a script. Python has its path as given in ``sys.argv``, and the absolute path in
    ``__file__`` and tracebacks; `runpy.run_path` would use one path for all of them."""
    # The absolute path that Python makes, which still has "./" except on Windows.
    path = os.path.abspath(script) if os.name == "nt" else os.path.join(os.getcwd(), script)
    loader = SourceFileLoader("__main__", path)
    try:
        source = loader.get_data(path)
    except (OSError, ValueError) as error:  # ValueError: a path with NUL
        reason = getattr(error, "strerror", error)
        raise BadInputError(f"can't open {script}: {reason}") from None
    run_code(source, path, loader, __file__=path)


def run_code(source: str | bytes, path: str, loader: object, **names: str) -> None:
    """Run source code as the module ``__main__``, which has these names."""
    module = ModuleType("__main__")
    vars(module).update(__builtins__=builtins, __loader__=loader, **names)
    sys.modules["__main__"] = module
    exec(compile(source, path, "exec", dont_inherit=True), vars(module))


def replace_first_path(paths: list[str]) -> None:
    """Replace the folder of the command, the first entry of ``sys.path``. ``python -P`` leaves this
    entry out."""
    if not sys.flags.safe_path:
        sys.path[:1] = paths


def hide_our_frames(error: BaseException) -> None:
    """Make a printed traceback begin with the program's own frames."""
    theirs = error.__traceback__
    while theirs and name_of_module(theirs).startswith((__name__, "runpy", "importlib._boot")):
        theirs = theirs.tb_next
    show = sys.excepthook  # Python's, or the program's own
    sys.excepthook = lambda kind, value, _: show(kind, value.with_traceback(theirs), theirs)


def last_entry(traceback):
    """The traceback entry of the frame that raised."""
    while traceback.tb_next:
        traceback = traceback.tb_next
    return traceback


def name_of_module(traceback) -> str:
    """The name of the module of a traceback entry."""
    return traceback.tb_frame.f_globals.get("__name__", "")
