"""The test command of cosmic-ray: asks the judge, and fails when it has killed the mutant. Imports next to nothing."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from mutant import ask

answer = ask(Path(sys.argv[1]))
sys.stdout.buffer.write(answer)
sys.exit(b'"survived"' not in answer)
