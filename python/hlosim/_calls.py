"""Calls of the program's commands, in this process: values in, what they print out."""
from __future__ import annotations

import os
import tempfile
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from . import _core
from ._errors import check, wrong

# (what the line names, its text or None, modules read already)
Input = Tuple[str, Any, Sequence["_core.Module"]]


def text_of(value: Any) -> str:
    """A value as a command line has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return os.fspath(value) if hasattr(value, "__fspath__") else str(value)


def options_line(options: Mapping[str, Any]) -> List[str]:
    """``{"top": 3, "set": {"clock": "1 GHz"}, "front": True}`` as arguments of a command.

    Nothing comes of None and False; lists and dictionaries are the option again and again; a name may end in ``_``
    where Python has a word for itself.

    >>> options_line({"top": 3, "set": {"clock": "1 GHz"}, "front": True, "module": None})
    ['--top=3', '--set=clock=1 GHz', '--front']
    """
    line = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            line.append(option)
        elif isinstance(value, Mapping):
            line += ["%s=%s=%s" % (option, key, text_of(one)) for key, one in value.items()]
        elif isinstance(value, (list, tuple, set, frozenset)):
            line += ["%s=%s" % (option, text_of(one)) for one in value]
        else:
            line.append("%s=%s" % (option, text_of(value)))
    return line


def changes_of(changes: Any) -> Dict[str, Any]:
    """A copy of the dictionary ``set=`` of a call."""
    if changes is None:
        return {}
    if not isinstance(changes, Mapping):
        raise TypeError('set: expects a dictionary such as {"hbm.bandwidth": "900 GB/s"}, not %r' % (changes,))
    return dict(changes)


def refuse_inputs(path: "os.PathLike[str] | str", inputs: Iterable[Optional[str]]) -> None:
    """Raises where `path`, which is to be written, is one of the files `inputs`, under any name."""
    for one in inputs:
        if one and os.path.isfile(one) and os.path.isfile(path) and os.path.samefile(one, path):
            raise wrong("'%s' would overwrite the input '%s'" % (os.fspath(path), one),
                        "every result needs a file of its own")


def write_text(path: "os.PathLike[str] | str", text: str) -> None:
    """Writes a file as a whole or not at all."""
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe or a device
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        return
    target = os.path.realpath(path)
    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", newline="", dir=os.path.dirname(target), delete=False) as file:
            try:
                file.write(text)
                file.close()
                mask = os.umask(0)
                os.umask(mask)
                os.chmod(file.name, 0o666 & ~mask)
                os.replace(file.name, target)
            except BaseException:
                os.unlink(file.name)
                raise
    except OSError as error:
        raise wrong("cannot write '%s': %s" % (os.fspath(path), error.strerror)) from error


def call(command: str, inputs: Iterable[Input] = (), options: Optional[Mapping[str, Any]] = None, *,
         names: Sequence[str] = (), max_seconds: Optional[float] = None,
         on_progress: Optional[Callable[[int, int], None]] = None, worst: int = 1) -> str:
    """What the command prints for `inputs` and `names`, its positional arguments; raises what is wrong."""
    inputs = list(inputs)
    line = command.split() + options_line(options or {}) + ["--"] + [one[0] for one in inputs if one[0]] + list(names)
    code, out, err, findings = _core.call(line, inputs, max_seconds, on_progress)
    check(code, findings, err, worst)
    return out.decode("utf-8", "replace")
