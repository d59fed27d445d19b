"""``fastsel run`` patches NumPy; apart from this, a script runs as in Python."""

import os
import signal
import subprocess
import sys
import zipfile

import pytest

from fastsel.__main__ import main

pytestmark = pytest.mark.thread_unsafe(
    reason="changes the folder of the process, and captures what it prints"
)

MAIN = """
import sys
import __main__
import beside

print(sys.argv, sys.path)
print(__name__, __file__, __spec__ and __spec__.name, __package__, type(__loader__), __doc__)
print(vars(__main__) is globals())
print("patched" if beside.is_patched() else "not patched", file=sys.stderr)
"""
# Threads and exit handlers run after the script, and may pickle its classes, as pools do.
AFTER_THE_SCRIPT = """
import atexit, pickle, sys, threading, time
from fastsel import _patch

class Task: pass

def late():
    time.sleep(0.1)
    print(pickle.dumps(Task()), sys.argv, sys.path)
    print("patched" if _patch.is_patched() else "not patched", file=sys.stderr)

threading.Thread(target=late).start()
atexit.register(late)
"""
INTERRUPTED = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
os.kill(os.getpid(), signal.SIGINT)
"""
OWN_HOOK = """
import sys, traceback
def show(kind, error, tb):
    print("mine", kind, [frame.name for frame in traceback.extract_tb(tb)])
sys.excepthook = show
raise KeyError(3)
"""
CHAINED = """
def divide():
    return 1 / 0

try:
    divide()
except ZeroDivisionError as error:
    raise KeyError(3) from error
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder for scripts, in the current folder; it has the module that the scripts import."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "beside.py").write_text("from fastsel._patch import is_patched\n")
    monkeypatch.chdir(tmp_path)
    return folder


def run(*arguments, stdin=None, **variables):
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **variables},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def fastsel_run(*arguments, **variables):
    return run("-m", "fastsel", "run", *arguments, **variables)


def link(name, target):
    if os.name == "nt":
        pytest.skip("on Windows, symbolic links need a privilege")
    os.symlink(target, name)


def assert_as_python(*arguments, **variables):
    """Check that `fastsel run` prints what Python prints with these arguments, and has its exit
    status, but that NumPy is patched. Returns the finished `fastsel run`."""
    theirs, ours = run(*arguments, **variables), fastsel_run(*arguments, **variables)
    assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout), ours.stderr
    assert ours.stderr == theirs.stderr.replace("not patched", "patched")
    return ours


@pytest.mark.parametrize("script", ["folder/main.py", "./folder/../folder/main.py", "link.py"])
def test_a_script_runs_as_in_python(folder, script):
    (folder / "main.py").write_text(MAIN)
    if script == "link.py":
        link(script, "folder/main.py")
    done = assert_as_python(script, "--size", "3", "-h", "-m", "--", "x")
    assert done.stdout.startswith(f"['{script}', '--size', '3', '-h', '-m', '--', 'x']")
    assert done.stderr == "patched\n"


def test_the_first_argument_may_be_two_dashes(folder):
    (folder / "main.py").write_text(MAIN)
    done = assert_as_python("folder/main.py", "--", "run", "folder/main.py")
    assert done.stdout.startswith("['folder/main.py', '--', 'run', 'folder/main.py']")


def test_the_path_lacks_the_scripts_folder_with_pythonsafepath(folder):
    (folder / "main.py").write_text("import sys\nprint(sys.path)")
    assert_as_python("folder/main.py", PYTHONSAFEPATH="1")


@pytest.mark.parametrize("name", ["program", "package.module"])
def test_a_module_runs_as_in_python(folder, name, monkeypatch):
    (folder / "package").mkdir()
    (folder / "program").mkdir()
    for file in ("package/module.py", "program/__main__.py"):
        (folder / file).write_text(MAIN)
    monkeypatch.chdir(folder)
    done = assert_as_python("-m", name, "-m", "--", "x")
    assert done.stderr == "patched\n"


@pytest.mark.parametrize("arguments", [["-mprogram", "x"], ["-m", "program", "-c", "x"]])
def test_the_options_end_at_a_module(folder, arguments, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "program.py").write_text(MAIN)
    assert assert_as_python(*arguments).stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["-c", MAIN, "-m", "--", "x"],
        ["-c" + MAIN.strip(), "-h"],
        ["-c", "def f(:"],
        ["-c", "  if True:\n    print(3)"],
    ],
    ids=["apart", "joined", "wrong", "indented"],
)
def test_code_runs_as_in_python(folder, arguments, monkeypatch):
    monkeypatch.chdir(folder)
    assert_as_python(*arguments)


def test_traceback_of_code_has_only_its_own_frames(folder):
    done = assert_as_python("-c", CHAINED)
    assert done.returncode == 1


def test_two_dashes_may_stand_before_the_script(folder):
    (folder / "main.py").write_text(MAIN)
    assert_as_python("--", "folder/main.py", "x")


@pytest.mark.parametrize("path", ["folder", "./folder", "{cwd}/folder", "a.zip", "{cwd}/a.zip"])
def test_a_folder_or_archive_with_a_main_runs_as_in_python(folder, path):
    write_each(folder, MAIN)
    assert_as_python(path.format(cwd=os.getcwd()), "x")


def test_a_compiled_script_runs_as_in_python(folder):
    write_each(folder, MAIN)
    assert_as_python("folder/main.pyc")


def write_each(folder, text):
    """Write the text as each kind of program of PROGRAMS."""
    for name in ("__main__.py", "main.py"):
        (folder / name).write_text(text)
    run("-m", "compileall", "-b", "folder/main.py")
    with zipfile.ZipFile("a.zip", "w") as file:
        for name in ("__main__.py", "beside.py"):
            file.write(folder / name, name)


PROGRAMS = {
    "script": ["folder/main.py"],
    "compiled": ["folder/main.pyc"],
    "folder": ["./folder"],
    "archive": ["a.zip"],
    "module": ["-m", "folder.main"],
    "package": ["-m", "folder"],
}


# The representations of __builtins__, __loader__ and __spec__ have an address, or are long.
NAMES = """
print([item for item in sorted(globals().items()) if not item[0].startswith(("__l", "__s", "__b"))])
"""


@pytest.mark.parametrize("program", PROGRAMS)
def test_main_has_the_names_that_python_gives_it(folder, program):
    write_each(folder, NAMES)
    assert "__name__" in assert_as_python(*PROGRAMS[program]).stdout


def test_main_of_code_has_the_names_that_python_gives_it(folder):
    assert "__name__" in assert_as_python("-c", NAMES).stdout


@pytest.mark.parametrize("text", [MAIN, CHAINED, "def f(:"], ids=["main", "chained", "wrong"])
def test_a_script_on_stdin_runs_as_in_python(folder, text, monkeypatch):
    monkeypatch.chdir(folder)
    assert_as_python("-", "x", "-m", stdin=text)


def test_functions_that_a_module_imported_are_fastsels(folder):
    (folder / "own.py").write_text("from numpy import nonzero\n")
    (folder / "main.py").write_text("import inspect, own; print(inspect.getsource(own.nonzero))")
    assert "_fastsel.OURS['nonzero']" in fastsel_run("folder/main.py").stdout


def test_pytest_runs_with_patched_numpy(folder):
    (folder / "test_it.py").write_text(
        "from fastsel import _patch\n"
        "def test_patched(): assert _patch.is_patched()\n"
        "def test_unpatched(): assert not _patch.is_patched()\n"
    )
    done = fastsel_run("-m", "pytest", "-p", "no:cacheprovider", "folder", "-k", "patched")
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    assert "FAILED folder/test_it.py::test_unpatched" in done.stdout


@pytest.mark.parametrize("program", PROGRAMS)
def test_threads_and_exit_handlers_run_as_in_python(folder, program):
    write_each(folder, AFTER_THE_SCRIPT)
    done = assert_as_python(*PROGRAMS[program], "x")
    assert done.stderr == "patched\npatched\n"


ENDS = {
    "end": ("pass", 0),
    "status": ("import sys; sys.exit(7)", 7),
    "message": ("import sys; sys.exit('no such thing')", 1),
    "exception": ("raise KeyError(3)", 1),
    "chained": (CHAINED, 1),
    "syntax": ("def", 1),
    "import": ("import no_such_module", 1),
    "own_hook": (OWN_HOOK, 1),
    "interrupted": pytest.param(
        (INTERRUPTED, -signal.SIGINT),
        marks=pytest.mark.skipif(
            os.name == "nt", reason="on Windows, no exit status names a signal"
        ),
    ),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_exit_status_and_traceback_are_pythons(folder, end):
    text, status = end
    (folder / "main.py").write_text(text)
    assert assert_as_python("folder/main.py").returncode == status


@pytest.mark.parametrize("program", PROGRAMS)
def test_traceback_of_each_kind_of_program_is_pythons(folder, program):
    write_each(folder, CHAINED)
    assert assert_as_python(*PROGRAMS[program]).returncode == 1


NOTHING_TO_RUN = {
    "missing": (["no/such.py"], "can't open no/such.py: No such file or directory", 2),
    "unreadable": (["loop.py"], "can't open loop.py: Too many levels of symbolic links", 2),
    "folder": (["folder"], "can't find '__main__' module in ", 1),
    "module": (["-m", "no_such"], "No module named no_such", 1),
    "package": (["-m", "folder"], "No module named folder.__main__", 1),
}


@pytest.mark.parametrize(("arguments", "text", "status"), NOTHING_TO_RUN.values())
def test_nothing_to_run_is_one_line(folder, arguments, text, status):
    if arguments == ["loop.py"]:
        link("loop.py", "loop.py")
    done = fastsel_run(*arguments)
    assert done.stderr.startswith(f"fastsel run: {text}")
    assert done.stderr.count("\n") == 1
    assert done.returncode == status == run(*arguments).returncode


@pytest.mark.parametrize("arguments", [[], ["--report"], ["-m"], ["-c"], ["--"]])
def test_run_without_a_script_prints_the_usage(capsys, arguments):
    with pytest.raises(SystemExit) as exit_info:
        main(["run", *arguments])
    assert exit_info.value.code == 2
    assert "usage: fastsel run" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="Windows deletes no working folder")
@pytest.mark.parametrize("program", ["{folder}/main.py", "{folder}", "-m main", "-c {code}"])
def test_a_program_runs_in_a_deleted_folder_as_in_python(folder, program, monkeypatch):
    code = "import sys; print(sys.path, sys.argv, __name__)"
    for name in ("__main__.py", "main.py"):
        (folder / name).write_text(code)
    in_deleted_folder(folder, monkeypatch)
    assert_as_python(*(part.format(folder=folder, code=code) for part in program.split(" ", 1)))


@pytest.mark.skipif(os.name == "nt", reason="Windows deletes no working folder")
@pytest.mark.parametrize("script", ["main.py", "../main.py"])
def test_a_relative_path_in_a_deleted_folder_is_a_one_line_error(folder, script, monkeypatch):
    (folder / "main.py").write_text("pass")
    in_deleted_folder(folder, monkeypatch)
    done = fastsel_run(script)
    text = f"fastsel run: can't open {script}: No such file or directory\n"
    assert (done.returncode, done.stderr) == (2, text)


def in_deleted_folder(folder, monkeypatch):
    """Delete the working folder, a folder in `folder`, whose modules can be imported."""
    (folder / "deleted").mkdir()
    monkeypatch.chdir(folder / "deleted")
    (folder / "deleted").rmdir()
    monkeypatch.syspath_prepend(folder)


CHILDREN = """
import os, subprocess, sys
code = "from fastsel._patch import is_patched; print(is_patched(), flush=True)"
subprocess.run([sys.executable, "-c", code], check=True)
if child := os.fork():
    os.waitpid(child, 0)
else:
    exec(code)
    os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_only_forked_children_are_patched(folder):
    (folder / "main.py").write_text(CHILDREN)
    assert fastsel_run("folder/main.py").stdout.split() == ["False", "True"]
