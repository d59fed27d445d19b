rm -rf builds/site unpacked
tar -xzf dist/*.tar.gz -C builds --one-top-level=site --strip-components=1
sed -n '/^## Documentation/,/^## [^D]/{/^```sh/,/^```/{/^```/!p}}' "$here/CONTRIBUTING.md" > documentation.sh
grep sphinx-build documentation.sh
(cd builds/site && logged site bash -e "$work/documentation.sh")
# This command has built the package again, in another folder: its files are those of the wheel.
python3 -m zipfile -e dist/*.whl unpacked
diff -r -x __pycache__ unpacked/fastsel builds/site/.venv/lib/python3*/site-packages/fastsel
