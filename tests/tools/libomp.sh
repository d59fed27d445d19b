#!/usr/bin/env bash
# Download LLVM's OpenMP runtime for macOS, and unpack it into a new folder:
#
#     tests/tools/libomp.sh FOLDER
#
# Wheels contain this runtime, because it runs on old versions of macOS. Homebrew's runtime needs
# the version of macOS that the machine has, or a later one.
set -euo pipefail

case $(uname -m) in
arm64)
    file=osx-arm64/llvm-openmp-11.1.0-hf3c4609_1.tar.bz2
    hash=29763e493e46801c416f2e75f20e9183719bde3b727d8983b1917a480b4076fe
    ;;
x86_64)
    file=osx-64/llvm-openmp-11.1.0-hda6cdc1_1.tar.bz2
    hash=1ebfeee2af90bcedf6b39c7290244e2aec0bda01ecf81b0d8d78ed405480c21c
    ;;
esac
mkdir "$1"
curl --fail --location --silent --show-error --retry 3 --output "$1/package.tar.bz2" \
    "https://anaconda.org/conda-forge/llvm-openmp/11.1.0/download/$file"
echo "$hash  $1/package.tar.bz2" | shasum -a 256 --check
tar -xjf "$1/package.tar.bz2" -C "$1"
