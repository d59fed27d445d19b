"""Benchmarks of fastsel for asv; modules of benchmarks/peers make their inputs.

asv imports this folder as a package.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "peers"))
