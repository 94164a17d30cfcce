"""``python -m hlosim COMMAND …``: the program's commands, in this process."""
from __future__ import annotations

import sys

from . import _core


def main() -> int:
    code, out, err, findings = _core.call(sys.argv[1:] or ["report"], [], None, None)
    for one in findings:
        sys.stderr.write(one[-1])
    sys.stderr.write(err)
    sys.stdout.buffer.write(out)
    return code


if __name__ == "__main__":
    sys.exit(main())
