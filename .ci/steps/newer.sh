# A Python that is newer than the one in use, for a NumPy that is newer as well.
newer_python() {
    local found
    for found in "$(type -P python3.14)" "$(type -P python3.13)" "$(type -P python3.12)" \
        "$HOME"/.pyenv/versions/3.{14,13,12}.*/bin/python; do
        # A command of pyenv may exist without its Python.
        if [ -x "$found" ] && "$found" -c "import sys, venv; sys.exit(sys.version_info[:2] <= ($version))" 2> /dev/null; then
            echo "$found"
            return
        fi
    done
}
version=$(python3 -c "import sys; print('%d, %d' % sys.version_info[:2])")
interpreter=$(newer_python)
[ "$interpreter" ] || { left_out "no Python is newer than the one in use"; exit 0; }
fresh newer build "setuptools>=77" cython "numpy!=2.5.0" "${tools[@]}" "scipy>=1.15"
builder=$python build newer "$as_wheel"
"$python" -m pip install --quiet builds/newer/dist/*.whl
run_tests "${suite[@]}" --hypothesis-profile=few
logged newer-numpy "$python" -P "$conformance/numpy_suite.py"
sed -n '/tests that called fastsel/,$p' newer-numpy.log
