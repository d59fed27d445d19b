"""Benchmarks of fastsel for asv; what they measure on is made by the modules of benchmarks/peers.

asv imports this folder as a package.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "peers"))
