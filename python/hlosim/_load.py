"""Reads modules from paths, text, bytes and objects of JAX."""
from __future__ import annotations

import os
from typing import Any, List, Mapping, Optional, Sequence, Tuple, Union

from . import _core
from ._calls import options_line
from ._errors import check, wrong
from ._module import Module

# What objects of JAX and others may have, the most exact first: a name, and whether it is a method.
_HOLDERS = ("mlir_module_serialized", "as_serialized_hlo_module_proto", "as_text", "mlir_module", "compiler_ir",
            "as_hlo_text")


def _is_text(text: str) -> bool:
    """No path: several lines, or the beginning of a module."""
    return "\n" in text or text.lstrip().startswith(("HloModule", "module", "#", "\"builtin.module\""))


def _held(x: Any) -> Tuple[str, Union[str, bytes]]:
    """The name and the text or bytes of a module that an object holds, by its methods alone."""
    for name in _HOLDERS:
        held = getattr(x, name, None)
        if held is None:
            continue
        held = held() if callable(held) else held
        if held is None:
            continue
        if not isinstance(held, (str, bytes, bytearray)):  # an MLIR module, an XlaComputation
            held = _held(held)[1] if any(hasattr(held, one) for one in _HOLDERS) else str(held)
        return "<%s>" % type(x).__name__, bytes(held) if isinstance(held, bytearray) else held
    if callable(getattr(x, "lower", None)):  # a jitted or traced function
        raise TypeError("hlosim.load: %s has no module yet: hlosim.load(f.lower(…)), or f.lower(…).compile()" % (
            type(x).__name__))
    if callable(x):
        raise TypeError("hlosim.load: a function has no module before it is lowered: hlosim.report(f, *args, device=…), or "
                        "hlosim.load(jax.jit(f).lower(*args))")
    raise TypeError("hlosim.load: %s is not a path, text or bytes, and has none of %s" % (
        type(x).__name__, ", ".join(_HOLDERS)))


def load_all(x: Any, *, dim: Union[None, int, str, Sequence, Mapping[str, int]] = None, partial: bool = False,
             max_rank: Optional[int] = None, max_devices: Optional[int] = None) -> List[Module]:
    """Reads every module that `x` holds; as `load`, but always a list.

    Examples
    --------
    >>> import hlosim
    >>> [m.name for m in hlosim.load_all("HloModule a\\nENTRY e { ROOT x = f32[] parameter(0) }")]
    ['a']
    """
    options = options_line({"dim": dim, "partial": partial, "max_rank": max_rank, "max_devices": max_devices})
    name, text = "", None
    if isinstance(x, Module):
        return [x]
    if isinstance(x, (list, tuple)):
        settings = {"dim": dim, "partial": partial, "max_rank": max_rank, "max_devices": max_devices}
        return [one for each in x for one in load_all(each, **settings)]
    if isinstance(x, (bytes, bytearray, memoryview)):
        name, text = "<bytes>", bytes(x)
    elif isinstance(x, str) and _is_text(x):
        name, text = "<text>", x
    elif callable(getattr(x, "read", None)):  # an open file
        name, text = str(getattr(x, "name", "<file>")), x.read()
    elif isinstance(x, str) or hasattr(x, "__fspath__"):
        name = os.fspath(x)
        if name == "-":
            raise wrong("standard input is not a module here", "hlosim.load(sys.stdin.read())")
    else:
        name, text = _held(x)
    modules, findings = _core.load(name, text, options)
    check(0 if modules else 2, findings, notes=True)
    return [Module(one) for one in modules]


def load(x: Any, *, dim: Union[None, int, str, Sequence, Mapping[str, int]] = None, partial: bool = False,
         max_rank: Optional[int] = None, max_devices: Optional[int] = None) -> Union[Module, List[Module]]:
    """Reads and verifies modules.

    Parameters
    ----------
    x : str, os.PathLike, bytes or object
        A path (a file, packed or not, or a folder that ``--xla_dump_to`` wrote); HLO or StableHLO text; bytes of a
        proto, of a portable artifact or of a packed file; or an object that holds a module: one with
        ``mlir_module_serialized``, ``as_text()``, ``mlir_module()`` or ``compiler_ir()``, as JAX's Lowered, Compiled
        and Exported have them, or ``as_hlo_text()``, ``as_serialized_hlo_module_proto()``; or an open file; or a list
        of these.
    dim : int, str, sequence or dict, optional
        Sizes of dynamic dimensions of a StableHLO program's arguments: ``8``, ``[8, 128]``, ``{"batch": 8}``.
    partial : bool
        Read truncated text; missing parts give warnings.
    max_rank, max_devices : int, optional
        Arrays of more dimensions, programs for more devices are errors.

    Returns
    -------
    Module, or list of Module
        The list where there are several.

    Raises
    ------
    Error
        With the place of what is wrong.
    TypeError
        `x` is nothing that holds a module.

    Examples
    --------
    >>> import hlosim
    >>> m = hlosim.load("HloModule m\\nENTRY e { a = f32[2] parameter(0)  ROOT x = f32[2] add(a, a) }")
    >>> m.name, m.parameters[0].shape
    ('m', (2,))
    """
    modules = load_all(x, dim=dim, partial=partial, max_rank=max_rank, max_devices=max_devices)
    return modules[0] if len(modules) == 1 else modules
