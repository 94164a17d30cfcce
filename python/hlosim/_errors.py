"""What is wrong with an input, as exceptions and warnings."""
from __future__ import annotations

import importlib
import re
import warnings
from typing import List, NamedTuple, Optional, Sequence


class Finding(NamedTuple):
    """One thing found about an input.

    ``line`` and ``column`` count from 1, the column in bytes; ``file``, ``line`` and ``column`` are None where the
    finding has no place in a text. ``text`` is all of it as the program prints it: place, message, the line with a
    caret, hint.
    """

    severity: str
    message: str
    hint: str
    file: Optional[str]
    line: Optional[int]
    column: Optional[int]
    text: str


#: Options of the command line, but for XLA's flags: ``--while-trip-count``, ``--set:1:1``.
_OPTION = re.compile(r"--(?!xla)([a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?::\d+:\d+)?")


def in_python(text: str) -> str:
    """A message with the arguments of calls in place of the command line's options.

    >>> in_python("--while-trip-count: '-1' is not a whole number"), in_python('--set:1:1: error: did you mean "--topology"?')
    ("while_trip_count: '-1' is not a whole number", 'set: error: did you mean "topology"?')
    """
    return _OPTION.sub(lambda found: found.group(1).replace("-", "_"), text)


def _said_in_python(one: Finding) -> Finding:
    place = one.file is not None and one.file.startswith("--")
    return one._replace(message=in_python(one.message), hint=in_python(one.hint), text=in_python(one.text) if place or one.file is None else one.text)


class Error(ValueError):
    """Wrong input: a module, a device, an option, an array.

    Attributes
    ----------
    message, hint : str
        What is wrong, and what would be right (may be empty).
    file : str or None
    line, column : int or None
        Where, counted from 1; None where the fault has no place in a text.
    findings : list of Finding
        Everything found, this error first among the errors.

    Examples
    --------
    >>> import hlosim
    >>> try:
    ...     hlosim.load("HloModule m\\nENTRY e {\\n  ROOT x = f32[2] parametr(0)\\n}\\n")
    ... except hlosim.Error as error:
    ...     error.line, error.column, error.hint
    (3, 19, 'did you mean "parameter"?')
    """

    def __init__(self, findings: Sequence[Finding]):
        findings = [_said_in_python(one) for one in findings]
        errors = [one for one in findings if one.severity == "error"] or list(findings)
        first = errors[0] if errors else Finding("error", "failed", "", None, None, None, "failed")
        super().__init__(first.text.rstrip("\n").removeprefix("hlosim: error: "))
        self.message, self.hint = first.message, first.hint
        self.file, self.line, self.column = first.file, first.line, first.column
        self.findings: List[Finding] = list(findings)

    def __reduce__(self):
        return Error, (self.findings,)


class HlosimWarning(UserWarning):
    """Something that may not be what was meant, e.g. a setting without effect."""


def wrong(message: str, hint: str = "") -> Error:
    """An error without a place."""
    text = message + ("\n  hint: " + hint if hint else "")
    return Error([Finding("error", message, hint, None, None, None, text)])


def needed(package: str, who: str):
    """An optional package, imported; where it isn't installed the error names the function that needs it and how to install it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        root = package.split(".")[0]
        if error.name is None or error.name.split(".")[0] != root:
            raise  # it is there, and broken
        raise ImportError("%s needs %s, which is not installed: apt install python3-%s, or pip install %s" % (
            who, root, root, root), name=root) from None


def check(code: int, findings, err: str = "", worst: int = 1, notes: bool = False) -> List[Finding]:
    """Raises what failed; warns of warnings, and of notes where they matter. A code up to `worst` is an answer."""
    found = [Finding(*one) for one in findings]
    if code > worst or any(one.severity == "error" for one in found):
        if not any(one.severity == "error" for one in found):
            raise wrong(err.strip() or "failed with exit code %d" % code)
        raise Error(found)
    for one in found:
        if one.severity == "warning" or notes and one.severity == "note":
            warnings.warn(one.text.rstrip("\n"), HlosimWarning, stacklevel=4)
    return found
