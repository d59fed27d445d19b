"""Build the kernels. This file has all compiler flags and Cython directives of fastsel, and makes
the metadata that depend on the public address: the README with its links, and the project's URLs.

FASTSEL_NO_OPENMP=1   builds a serial version (no threads of any kind, same results); a compiler
                      without OpenMP also builds it
FASTSEL_REQUIRE_OPENMP=1  raises an error if the compiler has no OpenMP; wheels are built with it
FASTSEL_SANITIZE=1    builds with AddressSanitizer and UndefinedBehaviorSanitizer (gcc, clang)
FASTSEL_SANITIZE=thread  builds with ThreadSanitizer
FASTSEL_CHECKED=1     builds kernels that check each index into a view, and some contracts
FASTSEL_COVERAGE=1    builds kernels whose lines gcov counts (tests/tools/uncovered.py)
FASTSEL_WARNINGS=1    turns warnings of gcc or clang into errors
FASTSEL_ONLY="keys gather"  builds only these kernels, quickly, with little optimisation
"""

import os
import re
import shlex
import sys
import sysconfig
import tempfile
import tomllib
from glob import glob
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, LinkError, PlatformError


def requested(variable):
    return os.environ.get(variable, "0") not in ("", "0")


SERIAL = requested("FASTSEL_NO_OPENMP")
CHECKED = requested("FASTSEL_CHECKED")
# Each .pyx is a kernel. C sources include headers by name, without the folder.
KERNELS = sorted(glob("fastsel/*/*.pyx"))
HEADERS = sorted(glob("fastsel/*/*.h"))
# The module that has Cython's code for memoryviews. Without it, each kernel would have this code.
CYTHON_CODE = "fastsel._core._cyutility"
# The only module that uses OpenMP.
THREADED = "fastsel._core.parallel"
# If one of these files changes, all kernels are rebuilt; naming them also puts them in the sdist.
SHARED = HEADERS + sorted(glob("fastsel/*/*.pxd"))
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": CHECKED,
    "wraparound": False,
    "initializedcheck": CHECKED,
    "cdivision": True,
    "embedsignature": True,
    "freethreading_compatible": True,
}
COVERAGE = requested("FASTSEL_COVERAGE")
ONLY = os.environ.get("FASTSEL_ONLY", "").split()
# setuptools passes these flags to the linker for modules, but not for executables.
LINKER_FLAGS = shlex.split(os.environ.get("LDFLAGS", ""))
HARDENED_FLAGS = ["-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"]
if sysconfig.get_platform() == "linux-x86_64":  # the platform that the build is for
    HARDENED_FLAGS.append("-fcf-protection")
# With these flags, neither debug information nor a path in a kernel names the folder of the build.
REPRODUCIBLE_FLAGS = ["-g0", f"-ffile-prefix-map={os.getcwd()}=."]
# What a build needs: (a program that compiles if it is there, the error message if it is missing).
NEEDS = [
    (
        "int main(void) { return 0; }\n",
        "fastsel needs a C compiler, and {command!r} does not work (CC=... names another)",
    ),
    (
        "#if (defined(_WIN32) && !defined(_WIN64)) || __SIZEOF_POINTER__ + 0 == 4 || \\\n"
        "    (defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)\n"
        '#error "not 64 bits, or big-endian"\n'
        "#endif\n",
        "fastsel is for 64-bit, little-endian platforms, and {command!r} builds for another",
    ),
    (
        "#include <Python.h>\n",
        "fastsel needs the C headers of Python (package python3-dev or python3-devel), which "
        "{command!r} does not find",
    ),
]
# A program that needs OpenMP: its header and one of its functions.
OPENMP_PROGRAM = "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n"
# Flags of the linker: addresses are bound once and then read-only, and the stack is not executable.
HARDENED_LINK_FLAGS = ["-Wl,-z,relro,-z,now,-z,noexecstack"]


class BuildKernels(build_ext):
    """Chooses the flags when the compiler is known, and compiles kernels in parallel."""

    def finalize_options(self):
        super().finalize_options()
        if self.parallel is None:  # `pip install` and `python -m build` do not set it
            self.parallel = os.cpu_count()

    def build_extensions(self):
        self.check_needs()
        openmp = self.find_openmp()
        compile_args, link_args = self.flags()
        # A wheel must not name a folder of this machine's interpreter; LDFLAGS may name folders.
        linker = getattr(self.compiler, "linker_so", [])
        linker[:] = [
            argument
            for argument in linker
            if argument in LINKER_FLAGS or not argument.startswith("-Wl,-rpath")
        ]
        sources = self.written_by_cython()
        for extension in self.extensions:
            extension.sources = sources[extension.name]
            extension.extra_compile_args += compile_args
            extension.extra_link_args += link_args
            if extension.name == THREADED:
                self.add_openmp(extension, openmp)
        super().build_extensions()

    def check_needs(self):
        """Raise an error if a program of NEEDS does not compile: before Cython, which runs for most
        of a minute."""
        for program, message in NEEDS:
            if not self.builds(program):
                raise PlatformError(message.format(command=self.command()))

    def command(self):
        return getattr(self.compiler, "compiler", ["the compiler"])[0]

    def written_by_cython(self):
        """The C sources of each kernel, by its name. Cython writes them one after the other: in
        several threads it makes errors."""
        written = cythonize(
            self.extensions,
            compiler_directives=DIRECTIVES,
            shared_utility_qualified_name=CYTHON_CODE,
            force=self.force or CHECKED,  # existing C sources may have no checks
            quiet=not self.verbose,
        )
        return {extension.name: extension.sources for extension in written}

    def flags(self):
        if self.compiler.compiler_type == "msvc":
            return ["/O2"], []
        level = "-O1" if ONLY or COVERAGE or CHECKED else "-O3"
        # Functions start at cache lines: otherwise changes of other code may slow down their loops.
        compile_args, link_args = [level, "-fno-strict-aliasing", "-falign-functions=64"], []
        if COVERAGE:
            compile_args += ["--coverage", "-fprofile-update=atomic"]
            link_args += ["--coverage"]
        if requested("FASTSEL_SANITIZE"):
            threads = os.environ["FASTSEL_SANITIZE"] == "thread"
            chosen = "-fsanitize=thread" if threads else "-fsanitize=address,undefined"
            compile_args += [chosen, "-fno-omit-frame-pointer", "-g1", "-O1"]
            link_args += [chosen]
        else:
            compile_args += HARDENED_FLAGS + REPRODUCIBLE_FLAGS
            link_args += HARDENED_LINK_FLAGS if sys.platform == "linux" else []
        if requested("FASTSEL_WARNINGS"):
            compile_args += ["-Wall", "-Wextra", "-Werror"]
        return compile_args, link_args

    def find_openmp(self):
        """The flags of the compiler and of the linker, or None for a serial build."""
        required = requested("FASTSEL_REQUIRE_OPENMP")
        if SERIAL and required:
            raise PlatformError(
                "FASTSEL_NO_OPENMP asks for a build without OpenMP, FASTSEL_REQUIRE_OPENMP for one "
                "with it: unset one of them"
            )
        if SERIAL:
            return None
        for flags in self.openmp_flags():
            if self.builds(OPENMP_PROGRAM, *flags):
                return flags
        if required:
            raise PlatformError(
                f"FASTSEL_REQUIRE_OPENMP asks for OpenMP, which {self.command()!r} does not have "
                "(CONTRIBUTING.md, Build)"
            )
        print(
            "WARNING: this compiler has no OpenMP: fastsel is built without threads, and gives "
            "the same results (CONTRIBUTING.md, Build)",
            file=sys.stderr,
        )
        return None

    def add_openmp(self, extension, flags):
        if flags is None:
            return
        extension.extra_compile_args += flags[0]
        extension.extra_link_args += flags[1]
        if sys.platform == "linux":
            extension.libraries.append("dl")  # dladdr, before glibc 2.34
        if "-fsanitize=thread" in extension.extra_compile_args:
            # ThreadSanitizer does not know the barriers of libgomp: openmp.h states them instead.
            extension.extra_compile_args.remove("-fsanitize=thread")
            extension.define_macros.append(("FASTSEL_TSAN", "1"))

    def openmp_flags(self):
        """Pairs of flags to try, for the compiler and for the linker."""
        if self.compiler.compiler_type == "msvc":
            return [(["/openmp"], [])]
        if sys.platform == "darwin":
            if "openmp" in os.environ.get("CPPFLAGS", ""):  # the user sets all flags
                return [([], [])]
            return [
                (["-fopenmp"], ["-fopenmp"]),
                (["-Xpreprocessor", "-fopenmp"], ["-lomp"]),  # Apple's clang
            ]
        return [(["-fopenmp"], ["-fopenmp"])]

    def builds(self, program, compile_args=(), link_args=None):
        """Does the program compile and, if link_args is not None, link?"""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "program.c")
            source.write_text(program)
            try:
                objects = self.compiler.compile(
                    [str(source)], output_dir=folder, extra_postargs=list(compile_args)
                )
                if link_args is not None:
                    self.compiler.link_executable(
                        objects,
                        "program",
                        output_dir=folder,
                        extra_postargs=LINKER_FLAGS + link_args,
                    )
            except (CompileError, LinkError):
                return False
        return True


def module_of(source):
    return ".".join(Path(source).with_suffix("").parts)


def extension(name, sources):
    return Extension(
        name,
        sources=sources,
        depends=SHARED,
        include_dirs=[numpy.get_include(), *sorted({os.path.dirname(file) for file in HEADERS})],
        define_macros=[
            ("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION"),
            ("NPY_TARGET_VERSION", "NPY_2_0_API_VERSION"),
            *([("FASTSEL_CHECKED", "1")] if CHECKED else []),
        ],
    )


def project_urls(address):
    """The addresses that follow from the address of a repository on GitHub."""
    if not address:
        return {}
    parts = re.fullmatch(r"https://github\.com/([\w-]+)/([\w.-]+)", address)
    if not parts:
        raise PlatformError(
            "address in pyproject.toml must be empty or like https://github.com/OWNER/fastsel, got "
            f"{address!r}"
        )
    owner, name = parts.groups()
    return {
        "Documentation": f"https://{owner.lower()}.github.io/{name}/",
        "Homepage": address,
        "Source": address,
        "Issues": f"{address}/issues",
        "Changelog": f"{address}/blob/main/CHANGELOG.md",
    }


def long_description(address, version):
    """The README. On a package index, relative links would not work: if there is an address, each
    relative link becomes a link to the repository, at the tag of this version."""
    text = Path("README.md").read_text(encoding="utf-8")
    if not address:
        return text
    relative = r"(?![a-z]+:|#)([^)\s]+)\)"
    text = re.sub(rf"(!\[[^]]*\]\(){relative}", rf"\1{address}/raw/v{version}/\2)", text)
    text = re.sub(r'((?:src|srcset)=")(?![a-z]+:)', rf"\1{address}/raw/v{version}/", text)
    return re.sub(rf"(\]\(){relative}", rf"\1{address}/blob/v{version}/\2)", text)


ADDRESS = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["tool"]["fastsel"][
    "address"
]
VERSION = re.search(r'__version__ = "(.*)"', Path("fastsel/_version.py").read_text())[1]

setup(
    project_urls=project_urls(ADDRESS),
    long_description=long_description(ADDRESS, VERSION),
    long_description_content_type="text/markdown",
    cmdclass={"build_ext": BuildKernels},
    ext_modules=[
        *([] if ONLY else [extension(CYTHON_CODE, [])]),  # Cython writes its source
        *(
            extension(module_of(source), [source])
            for source in KERNELS
            if not ONLY or Path(source).stem in ONLY
        ),
    ],
)
