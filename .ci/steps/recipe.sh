fresh recipe py-rattler-build
"$python" -c "import sys; from rattler_build import Stage0Recipe; Stage0Recipe.from_file(sys.argv[1])" \
    "$here/recipe/recipe.yaml"
