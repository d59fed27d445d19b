"""Build the kernels: every compiler flag and Cython directive of fastsel lives in this file.

FASTSEL_NO_OPENMP=1   builds a serial version (no threads of any kind, same results)
FASTSEL_SANITIZE=1    builds with AddressSanitizer and UndefinedBehaviorSanitizer (gcc, clang)
FASTSEL_SANITIZE=thread  builds with ThreadSanitizer
FASTSEL_TRACE=1       builds kernels whose lines coverage.py sees
FASTSEL_ONLY="keys gather"  builds these kernels alone, in little time instead of for speed
"""

import os
import platform
import sys
from glob import glob

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

KERNELS = "fastsel/_kernels"
NAMES = (
    *("scratch", "results", "slices", "levels", "bitmask", "indices", "items", "gather", "small"),
    *("smallsort", "pairs", "few", "keys", "flags", "words", "distinct", "partitions", "ordered"),
    *("objects", "texts", "ascending", "ranges", "sample"),
)
# What Cython needs for memoryviews, in a module of its own: it was most of each kernel's C.
CYTHON_CODE = "fastsel._kernels._cyutility"
# What a change must rebuild; named here, these files also reach the sdist.
SHARED = sorted(glob(f"{KERNELS}/*.h") + glob(f"{KERNELS}/*.pxd"))
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "cdivision": True,
    "embedsignature": True,
}


def requested(variable):
    return os.environ.get(variable, "0") not in ("", "0")


SERIAL = requested("FASTSEL_NO_OPENMP")
TRACE = requested("FASTSEL_TRACE")
ONLY = os.environ.get("FASTSEL_ONLY", "").split()
HARDENED = ["-fstack-protector-strong", "-U_FORTIFY_SOURCE"]
if not TRACE:  # it wants an optimizer
    HARDENED.append("-D_FORTIFY_SOURCE=2")
if sys.platform == "linux" and platform.machine() == "x86_64":
    HARDENED.append("-fcf-protection")
# Neither debug information nor a path says where the build was.
REPRODUCIBLE = ["-g0", f"-ffile-prefix-map={os.getcwd()}=."]
LINKED_ONCE = ["-Wl,-z,relro,-z,now,-z,noexecstack"]  # nothing can be linked, or written, later


class BuildKernels(build_ext):
    """Chooses the flags when the compiler is known, and compiles side by side."""

    def finalize_options(self):
        super().finalize_options()
        if self.parallel is None:  # which `pip install` and `python -m build` cannot ask for
            self.parallel = os.cpu_count()

    def build_extensions(self):
        compile_args, link_args = self.flags()
        # The folder of this machine's interpreter has no place in a wheel.
        linker = getattr(self.compiler, "linker_so", [])
        linker[:] = [argument for argument in linker if not argument.startswith("-Wl,-rpath")]
        sources = self.written_by_cython()
        for extension in self.extensions:
            extension.sources = sources[extension.name]
            extension.extra_compile_args += compile_args
            extension.extra_link_args += link_args
        super().build_extensions()

    def written_by_cython(self):
        """The C sources, one after the other: Cython in several threads writes wrong ones."""
        written = cythonize(
            self.extensions,
            compiler_directives=DIRECTIVES | {"linetrace": TRACE},
            shared_utility_qualified_name=CYTHON_CODE,
            force=self.force,
            quiet=not self.verbose,
        )
        return {extension.name: extension.sources for extension in written}

    def flags(self):
        if self.compiler.compiler_type == "msvc":
            return ["/O2"], []
        level = "-O0" if TRACE else "-O1" if ONLY else "-O3"
        compile_args, link_args = [level, "-fno-strict-aliasing"], []
        if not SERIAL:
            compile_args += ["-pthread"]
            link_args += ["-pthread"]
        if requested("FASTSEL_SANITIZE"):
            threads = os.environ["FASTSEL_SANITIZE"] == "thread"
            chosen = "-fsanitize=thread" if threads else "-fsanitize=address,undefined"
            compile_args += [chosen, "-fno-omit-frame-pointer", "-g", "-O1"]
            link_args += [chosen]
        else:
            compile_args += HARDENED + REPRODUCIBLE
            link_args += LINKED_ONCE if sys.platform == "linux" else []
        return compile_args, link_args


def extension(name, sources):
    return Extension(
        name,
        sources=sources,
        depends=SHARED,
        include_dirs=[numpy.get_include(), KERNELS],
        define_macros=[
            ("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION"),
            ("NPY_TARGET_VERSION", "NPY_2_0_API_VERSION"),
            *([("FASTSEL_SERIAL", "1")] if SERIAL else []),
            *([("CYTHON_TRACE", "1"), ("CYTHON_TRACE_NOGIL", "1")] if TRACE else []),
        ],
    )


setup(
    cmdclass={"build_ext": BuildKernels},
    ext_modules=[
        *([] if ONLY else [extension(CYTHON_CODE, [])]),  # Cython writes its source
        *(
            extension(f"fastsel._kernels.{name}", [f"{KERNELS}/{name}.pyx"])
            for name in ONLY or NAMES
        ),
    ],
)
