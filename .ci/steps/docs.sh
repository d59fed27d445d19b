rm -rf builds/site
tar -xzf dist/*.tar.gz -C builds --one-top-level=site --strip-components=1
sed -n '/^## Documentation/,/^## [^D]/{/^```sh/,/^```/{/^```/!p}}' "$here/CONTRIBUTING.md" > documentation.sh
grep sphinx-build documentation.sh
# The short check documents the wheel, which is built already. The long check builds the package again, in
# this folder.
[ "$long" ] || sed -i "s|\"\.\[docs\]\"|\"$(wheel)[docs]\"|" documentation.sh
(cd builds/site && logged site bash -e "$work/documentation.sh")
if [ "$long" ]; then
    # The installed files are those of the wheel.
    rm -rf unpacked
    python3 -m zipfile -e dist/*.whl unpacked
    diff -r -x __pycache__ unpacked/fastsel builds/site/.venv/lib/python3*/site-packages/fastsel
fi
