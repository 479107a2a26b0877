"""Trees for tests, written as nested lists as they come over the wire."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.setrecursionlimit(8000)
