"""``python -m hlosim COMMAND …``, and ``hlosim`` as pip installs it: the program's commands, in this process."""
from __future__ import annotations

import os
import sys
from typing import List

from . import __version__, _core


def _words(given: List[str]) -> List[str]:
    """A line without a command is one of ``report``, as the program has it; ``help COMMAND`` is ``COMMAND --help``."""
    if given and given[0] == "help":
        return [*(given[1:] or ["report"]), "--help"]
    is_report = not given or given[0].startswith("-") or os.path.exists(given[0])
    return ["report", *given] if is_report else given


def main() -> int:
    if sys.argv[1:] == ["--version"]:
        print("hlosim " + __version__)
        return 0
    code, out, err, findings = _core.call(_words(sys.argv[1:]), [], None, None)
    for one in findings:
        sys.stderr.write(one[-1])
    sys.stderr.write(err)
    sys.stdout.buffer.write(out)
    return code


if __name__ == "__main__":
    sys.exit(main())
