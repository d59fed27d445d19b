"""Benchmarks of fastsel: the bench_*.py files are for asv, compare.py runs by itself.

asv imports this folder as a package, ``python benchmarks/compare.py`` runs as a script from it.
Both find the modules beside them by their plain names.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
