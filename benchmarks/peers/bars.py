"""The picture at the top of the README: NumPy's time beside fastsel's, for well-known functions.

Each function has one input of the published results, and a scale of its own: all bars of NumPy have
the same length, and the lengths of the two bars of a function are in the ratio of their times. This
module writes the SVG itself, with text elements, which a reader can select and a test can read.
"""

from dataclasses import dataclass
from html import escape

from cells import CALLS

# The inputs, by operator: 1e7 items of 8 bytes, of which a tenth is selected or distinct.
SHOWN = {
    "nonzero": "float64 1e7 2-D density 0.1",
    "argwhere": "float64 1e7 2-D density 0.1",
    "count_nonzero": "float64 1e7 density 0.1",
    "boolean_mask": "float64 1e7 density 0.1",
    "unique_sorted": "int64 1e7 1e6 groups",
}
INPUTS = {  # the inputs in words
    "nonzero": "2-d float64, 10 % non-zero",
    "argwhere": "2-d float64, 10 % non-zero",
    "count_nonzero": "float64, 10 % non-zero",
    "boolean_mask": "for a[mask]: float64, 10 % selected",
    "unique_sorted": "int64, 10 % distinct, ascending values",
}
LEVELS = {"v3": "AVX2", "v4": "AVX-512", "base": "any CPU's instructions", "neon": "NEON"}
TITLE = "One call on 10 million items"
FONT = "font-family='system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif'"
CODE = "font-family='ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace'"
# In pixels. The picture is as narrow as the screen of a phone, so that its text can be read there.
WIDTH, MARGIN, HEADING, ROW, FOOT = 440, 16, 72, 84, 68
NUMPY_BAR_LENGTH, BAR_HEIGHT = 300, 13


@dataclass(frozen=True)
class Scheme:
    """Colours; every text has a contrast of at least 4.5 to the background."""

    background: str
    text: str
    quiet: str
    numpy: str
    fastsel: str
    slower: str


LIGHT = Scheme("#ffffff", "#1f2328", "#59636e", "#8c959f", "#0b5cad", "#b2182b")
DARK = Scheme("#0d1117", "#f0f6fc", "#9198a1", "#656c76", "#58a6ff", "#ff7b72")


def bars(results, scheme):
    """The picture as the text of an SVG file."""
    cells = {(cell["op"], cell["label"]): cell for cell in results["cells"]}
    height = HEADING + ROW * len(SHOWN) + FOOT
    functions = ", ".join(CALLS.get(op, op) for op in SHOWN)
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' "
        f"width='{WIDTH}' height='{height}' role='img' {FONT} font-size='14'>",
        f"<title>{TITLE}: NumPy's time and fastsel's for {functions}</title>",
        f"<rect width='{WIDTH}' height='{height}' fill='{scheme.background}'/>",
        text(MARGIN, 28, TITLE, f"font-size='17' font-weight='600' fill='{scheme.text}'"),
    ]
    for x, name, color in ((0, "NumPy", scheme.numpy), (82, "fastsel", scheme.fastsel)):
        lines.append(bar(MARGIN + x, 41, BAR_HEIGHT, color))
        lines.append(text(MARGIN + x + 20, 53, name, f"fill='{scheme.text}'"))
    lines.append(text(WIDTH - MARGIN, 53, "shorter is faster", quiet(scheme, "end")))
    for row, (op, label) in enumerate(SHOWN.items()):
        lines += bars_of(cells[op, label], op, HEADING + ROW * row, scheme)
    for place, words in enumerate(("Each function has its own scale.", *conditions(results))):
        lines.append(text(MARGIN, height - 50 + 18 * place, words, quiet(scheme)))
    return "\n".join([*lines, "</svg>", ""])


def conditions(results):
    """Two lines: the versions with the CPU level, and the machine."""
    versions, level = results["versions"], LEVELS[results["config"]["kernels"]]
    yield f"fastsel {versions['fastsel']}, NumPy {versions['numpy']}; both with {level}"
    yield results["machine"]


def bars_of(cell, op, top, scheme):
    """The two bars of a function; above them its name, the ratio and the input."""
    seconds, ratio = cell["seconds"]["fastsel"]["median"], cell["over_numpy"]
    bold = f"font-weight='600' fill='{scheme.fastsel}'"
    name = CALLS.get(op, op)
    yield text(MARGIN, top + 20, name, f"{CODE} font-weight='600' fill='{scheme.text}'")
    yield text(WIDTH - MARGIN, top + 20, f"{ratio:.1f} times as fast", f"{bold} text-anchor='end'")
    yield text(MARGIN, top + 37, INPUTS[op], quiet(scheme))
    for y, time, length, color in (
        (top + 44, ratio * seconds, NUMPY_BAR_LENGTH, scheme.numpy),
        (top + 61, seconds, NUMPY_BAR_LENGTH / ratio, scheme.fastsel),
    ):
        yield bar(MARGIN, y, length, color)
        yield text(MARGIN + length + 8, y + 12, milliseconds(time), f"fill='{scheme.text}'")


def bar(x, y, length, color):
    return (
        f"<rect x='{x}' y='{y}' width='{length:.1f}' height='{BAR_HEIGHT}' rx='2' fill='{color}'/>"
    )


def text(x, y, words, style):
    return f"<text x='{x:.1f}' y='{y}' {style}>{escape(words)}</text>"


def quiet(scheme, anchor="start"):
    return f"fill='{scheme.quiet}' font-size='13' text-anchor='{anchor}'"


def milliseconds(seconds):
    """The time in milliseconds, with one decimal if it is below 10 ms."""
    value = seconds * 1e3
    return f"{value:.1f} ms" if value < 9.95 else f"{value:.0f} ms"
