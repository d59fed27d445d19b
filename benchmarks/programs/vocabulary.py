"""A vocabulary and token ids, as for a language model, of the sources of Python's standard library.

The sources are the modules outside packages. Names, numbers and signs are tokens. Frequent tokens
are the vocabulary, the most frequent token first; all other tokens share one id.
"""

import re
import sysconfig
from pathlib import Path

import numpy as np
from shared import start

TOKEN = re.compile(r"\w+|[^\w\s]")
MIN_COUNT = 5


def main(f, step=1):
    folder = Path(sysconfig.get_path("stdlib"))
    texts = [path.read_text("utf-8") for path in sorted(folder.glob("*.py"))[::step]]
    tokens = np.array([token for text in texts for token in TOKEN.findall(text)], object)

    words, ids, counts = f.unique(tokens, return_inverse=True, return_counts=True)
    frequent = f.flatnonzero(counts >= MIN_COUNT)
    vocabulary = frequent[np.argsort(-counts[frequent], kind="stable")]
    id_of = np.full(len(words), len(vocabulary))  # all rare words share the last id
    id_of[vocabulary] = np.arange(len(vocabulary))
    return {"vocabulary": words[vocabulary], "ids": id_of[ids]}


if __name__ == "__main__":
    start(main)
