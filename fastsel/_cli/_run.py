"""``fastsel run``: a script or a module as Python itself would run it, with NumPy patched."""

from __future__ import annotations

import builtins
import linecache
import os
import pkgutil
import runpy
import sys
import textwrap
from importlib.machinery import BuiltinImporter, SourceFileLoader, SourcelessFileLoader
from types import CodeType, ModuleType

import fastsel
from fastsel._cli._report import Report
from fastsel._cli._workloads import BadInputError


def run(target: str, arguments: list[str], option: str, report: bool, compare: bool) -> None:
    """Run a script ("-" on stdin), a folder or an archive with a ``__main__.py``; with the option
    "-m", a module by its name; with "-c", the code itself.

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
    sys.argv[:] = [option or target, *arguments]
    fastsel.patch_numpy()
    if report or compare:
        Report(compare).print_at_exit()
    try:
        if option == "-c":
            replace_first_path([""])
            run_command(target)
        elif option == "-m":
            replace_first_path([folder] if (folder := working_folder()) else [])
            run_module(target, alter_argv=True)
        elif target == "-":
            replace_first_path([""])
            source = sys.stdin.buffer.read() if sys.stdin else b""
            run_code(source, "<stdin>", BuiltinImporter, __file__="<stdin>")
        elif pkgutil.get_importer(target):  # a folder or an archive
            replace_first_path([])
            sys.path.insert(0, absolute(target))
            run_module("__main__", alter_argv=False)
        else:
            run_script(target)
    except SystemExit as error:
        if name_of_module(last_entry(error.__traceback__)) == runpy.__name__:  # no such module
            sys.exit(str(error).replace(sys.executable, "fastsel run", 1))
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


def run_module(name: str, alter_argv: bool) -> None:
    """Run a module as ``python -m`` does, or the ``__main__`` of a folder or archive. It stays the
    module ``__main__``: the public functions of runpy would take it away when its code ends, but
    threads and exit handlers may still run."""
    new_main()
    runpy._run_module_as_main(name, alter_argv)


def run_script(script: str) -> None:
    """Run a script, or its bytecode. Python has its path as given in ``sys.argv``, and the absolute
    path in ``__file__`` and tracebacks; `runpy.run_path` would use one path for all of them."""
    path = absolute(script)
    is_bytecode = script.endswith(".pyc")
    loader = (SourcelessFileLoader if is_bytecode else SourceFileLoader)("__main__", path)
    try:
        source = loader.get_code("__main__") if is_bytecode else loader.get_data(path)
        folder = os.path.dirname(os.path.realpath(path))
    except (OSError, ValueError) as error:  # ValueError: a path with NUL
        reason = getattr(error, "strerror", error)
        raise BadInputError(f"can't open {script}: {reason}") from None
    replace_first_path([folder])
    run_code(source, path, loader, __file__=path)


def absolute(path: str) -> str:
    """The absolute path that Python makes, which still has "./" except on Windows."""
    return os.path.abspath(path) if os.name == "nt" else os.path.join(working_folder(), path)


def working_folder() -> str:
    """The path of the working folder; empty if the folder has been deleted."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def run_code(source: str | bytes | CodeType, path: str, loader: object, **names: str) -> None:
    """Run code as the module ``__main__``, which has these names."""
    names_of_main = new_main(__loader__=loader, **names)
    if not isinstance(source, CodeType):
        source = compile(source, path, "exec", dont_inherit=True)
    exec(source, names_of_main)


def new_main(**names: object) -> dict:
    """The names of a new module ``__main__``: `names`, and the names that this Python adds."""
    pythons = vars(sys.modules["__main__"])
    if "__annotations__" in pythons:
        names["__annotations__"] = {}
    if "__file__" in names and "__cached__" in pythons:
        names["__cached__"] = None
    module = sys.modules["__main__"] = ModuleType("__main__")
    vars(module).update(__builtins__=builtins, **names)
    return vars(module)


def replace_first_path(paths: list[str]) -> None:
    """Replace the folder of the command, the first entry of ``sys.path``. ``python -P`` leaves this
    entry out, and so does ``python -m`` in a deleted folder."""
    has_entry = working_folder() or not sys.modules["__main__"].__spec__
    if not sys.flags.safe_path:
        sys.path[: 1 if has_entry else 0] = paths


def hide_our_frames(error: BaseException) -> None:
    """Make a printed traceback begin with the frames that Python itself shows."""
    theirs = error.__traceback__
    while theirs and name_of_module(theirs).startswith((__name__, "importlib._boot")):
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
