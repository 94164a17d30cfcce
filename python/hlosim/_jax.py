"""JAX functions: reports without a TPU, and JAX's ahead-of-time compiler for one. JAX is imported by calls only."""
from __future__ import annotations

import os
from typing import Any, Mapping, NamedTuple, Optional, Tuple

from ._load import load
from ._module import DeviceLike, Module
from ._report import Report

# JAX's names of generations (jax.experimental.topologies) for those of hlosim's devices; others are alike.
_FAMILIES = {"v7x": "tpu7x"}


class Compiled(NamedTuple):
    """A function as a TPU compiler compiled it, and the slice that it was compiled for."""

    module: Module
    device: str  # "v6e"
    topology: str  # "2x4"
    executable: Any  # JAX's compiled function: memory_analysis(), cost_analysis(), as_text()

    def report(self, **options: Any) -> Report:
        """`Module.report` on that device and slice, with its options."""
        return self.module.report(self.device, topology=self.topology, **options)


def _lowered(f: Any, args: Tuple[Any, ...], kwargs: Mapping[str, Any], jit: Mapping[str, Any]) -> Any:
    """What lower() returns of a function that may be jitted already."""
    if callable(getattr(f, "lower", None)) and not jit:
        return f.lower(*args, **kwargs)
    import jax

    return jax.jit(f, **jit).lower(*args, **kwargs)


def report(f: Any, *args: Any, device: DeviceLike, options: Optional[Mapping[str, Any]] = None, **kwargs: Any) -> Report:
    """Estimates what a function costs on a device. Needs JAX for functions, and no TPU.

    Parameters
    ----------
    f : callable, Module, or what `load` takes
        A function, jitted or not, that is lowered with `args`; or something that holds a module, without `args`.
    *args, **kwargs
        Arguments of the function: arrays, or ``jax.ShapeDtypeStruct``.
    device : str, os.PathLike or Device
        As of `Module.report`.
    options : dict, optional
        Options of `Module.report`: ``{"topology": "2x4", "set": {…}}``.

    Returns
    -------
    Report
        Of the module that JAX hands to the compiler: hlosim partitions and lowers it.

    Raises
    ------
    Error
        As `load` and `Module.report`.
    TypeError
        Arguments for something that is not a function, or a function whose lowering holds several modules.

    Examples
    --------
    >>> import hlosim
    >>> text = "HloModule m\\nENTRY e { a = f32[8] parameter(0)  ROOT x = f32[8] add(a, a) }"
    >>> hlosim.report(text, device="unit").time_us > 0
    True
    """
    if isinstance(f, Module):
        module = f
    elif callable(f) and not isinstance(f, (str, bytes)):
        module = load(_lowered(f, args, kwargs, {}))
        args, kwargs = (), {}
    else:
        module = load(f)
    if args or kwargs:
        raise TypeError("hlosim.report: %s takes no arguments: only functions do" % type(f).__name__)
    if not isinstance(module, Module):
        raise TypeError("hlosim.report: there are %d modules; hlosim.load_all(x) gives each" % len(module))
    return module.report(device, **dict(options or {}))


def _slice(device: str) -> Tuple[str, str]:
    """A device and the sides of its slice: "v6e:2x4" -> ("v6e", "2x4")."""
    name, colon, sides = device.partition(":")
    sizes = sides.split("x")
    if not colon or not name or not all(one.isdigit() and int(one) > 0 for one in sizes):
        raise ValueError("hlosim.aot: device=%r: expected a device and a slice, as in \"v6e:2x4\"" % device)
    return {family: ours for ours, family in _FAMILIES.items()}.get(name, name), sides


def aot(f: Any, *args: Any, device: str, mesh: Optional[Mapping[str, int]] = None, in_specs: Any = None, out_specs: Any = None,
        jit: Optional[Mapping[str, Any]] = None, topology_options: Optional[Mapping[str, Any]] = None, **kwargs: Any) -> Compiled:
    """Compiles a function for a slice of TPUs on a machine without any, by JAX's ahead-of-time topologies.

    Needs JAX and libtpu (``pip install jax[tpu]``), whose compiler runs on CPUs. The module that results has the compiler's
    fusions, layouts, memory spaces and schedule; hlosim adds the times.

    Parameters
    ----------
    f : callable
        A function; its arguments are given by `args` and `kwargs`, as arrays or ``jax.ShapeDtypeStruct``.
    device : str
        A device and a slice: "v6e:2x4", "v5p:2x2x1", "v7x:2x2x1" (which JAX calls "tpu7x:2x2x1").
    mesh : dict, optional
        Axes and sizes, their product the number of devices: ``{"data": 4, "model": 2}``. Default: one axis "x" over all.
    in_specs, out_specs : optional
        ``PartitionSpec``s of arguments and results, as trees that match them. Default for arguments: replicated.
    jit : dict, optional
        More arguments of ``jax.jit``: ``donate_argnums``, ``static_argnums``, ``compiler_options``, …
    topology_options : dict, optional
        More arguments of ``get_topology_desc``, such as ``chips_per_host_bounds``.

    Returns
    -------
    Compiled
        The module, its device and slice, and JAX's executable.

    Raises
    ------
    ImportError
        JAX is not installed.
    ValueError
        `device` names no slice, or the mesh has another number of devices than the slice.
    """
    name, sides = _slice(device)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
    import jax
    import numpy as np
    from jax.experimental import topologies
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    slice_name = "%s:%s" % (_FAMILIES.get(name, name), sides)
    topology = topologies.get_topology_desc(slice_name, platform="tpu", **dict(topology_options or {}))
    devices = list(topology.devices)
    axes = dict(mesh or {"x": len(devices)})
    if int(np.prod(list(axes.values()))) != len(devices):
        raise ValueError("hlosim.aot: mesh=%r has %d devices, %s has %d" % (
            axes, int(np.prod(list(axes.values()))), slice_name, len(devices)))
    grid = np.empty(len(devices), dtype=object)
    grid[:] = devices
    placed = Mesh(grid.reshape(tuple(axes.values())), tuple(axes))

    def shardings(specs: Any) -> Any:
        is_spec = lambda one: isinstance(one, PartitionSpec)  # noqa: E731
        return jax.tree_util.tree_map(lambda one: NamedSharding(placed, one), specs, is_leaf=is_spec)

    settings = dict(jit or {})
    settings["in_shardings"] = shardings(PartitionSpec() if in_specs is None else in_specs)
    if out_specs is not None:
        settings["out_shardings"] = shardings(out_specs)
    executable = _lowered(f, args, kwargs, settings).compile()
    return Compiled(load(executable), name, sides, executable)
