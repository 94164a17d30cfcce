"""Modules: what can be asked of one."""
from __future__ import annotations

import json
import os
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Union

from . import _core
from ._arrays import ArrayType, given_list, result_array
from ._calls import call, changes_of, options_line, text_of
from ._device import Device, simulation
from ._errors import check, wrong
from ._mesh import axes_text, mesh_text, shard_texts
from ._report import Report

DeviceLike = Union[str, "os.PathLike[str]", Device]
MeshLike = Union[None, str, Mapping[str, int]]
ShardLike = Union[None, str, Sequence[str], Mapping[str, Any]]


class Tuned(NamedTuple):
    """What a tuner made of a module."""

    module: "Optional[Module]"  # rewritten; None: of `tune_mesh`, where no choice fits
    report: Dict[str, Any]  # the output of the command's --format=json


class MemoryAnalysis(NamedTuple):
    """Bytes on one device, by the names of JAX's CompiledMemoryStats."""

    argument_size_in_bytes: int
    output_size_in_bytes: int  # including outputs aliased to arguments
    alias_size_in_bytes: int  # of outputs aliased to arguments
    temp_size_in_bytes: int
    generated_code_size_in_bytes: Optional[int]
    host_argument_size_in_bytes: int
    host_output_size_in_bytes: int
    host_alias_size_in_bytes: int
    host_temp_size_in_bytes: int
    host_generated_code_size_in_bytes: Optional[int]


class Advised(NamedTuple):
    """What ``hlosim advise`` found for a program."""

    advice: List[Dict[str, Any]]  # what saves most first: "saved_ps", "share", "change", "problem", "proof", ...
    report: Dict[str, Any]  # everything that --format=json has: attempts, worth of source lines, ...
    module: "Optional[Module]"  # the changed program, with `apply`


class Partitioned(NamedTuple):
    """What every device of a mesh runs."""

    module: "Module"
    report: Dict[str, Any]  # --format=json of `hlosim partition`: collectives, who asked for them, their bytes, …


class Module:
    """A verified module; `load` reads them. It never changes.

    Every method that simulates takes a device (a name, a file or a `Device`) and, by name, the options of the command
    behind it with ``_`` for ``-``: ``topology="2x2x1"``, ``devices=8``, ``slices=2``, ``while_trip_count=10``,
    ``custom_call_costs="costs.yaml"``, ``xla_flags="--xla_…"``, ``lower=False``. `set` changes keys of the device.
    A program with shardings that isn't partitioned is partitioned first, over the devices that they name;
    ``partition=False`` simulates it unpartitioned. ``mesh={"data": 4, "model": 2}`` spreads it over a mesh, with ``shard=
    {"params.*kernel": [None, "model"]}`` for shardings of parameters, ``mesh_order="auto"``, ``written_for={…}``.
    """

    def __init__(self, core: "_core.Module"):
        self._core = core

    # ── What it is ──

    @property
    def name(self) -> str:
        """The name in its header."""
        return self._core.name

    @property
    def file(self) -> str:
        """Where it was read from."""
        return self._core.file

    @property
    def fingerprint(self) -> str:
        """16 hex digits over its text in normal form, without metadata."""
        return self._core.fingerprint

    @property
    def is_scheduled(self) -> bool:
        """Whether its text has a schedule."""
        return self._core.is_scheduled

    @property
    def replicas(self) -> int:
        """Replicas by its header; 1 where that is silent."""
        return self._core.replicas

    @property
    def partitions(self) -> int:
        """Partitions by its header; 1 where that is silent."""
        return self._core.partitions

    @property
    def parameters(self) -> List[ArrayType]:
        """The arrays that it takes, leaves of tuples one after the other."""
        return [ArrayType(*one) for one in self._core.parameters()]

    @property
    def results(self) -> List[ArrayType]:
        """The arrays that it gives."""
        return [ArrayType(*one) for one in self._core.results()]

    def text(self) -> str:
        """HLO text in normal form, as ``hlosim print`` prints it."""
        return self._core.text()

    def __len__(self) -> int:
        return self._core.instructions

    def __repr__(self) -> str:
        return "<hlosim.Module %s: %d instructions%s>" % (self.name, len(self),
                                                         ", from " + self.file if self.file else "")

    def __reduce__(self):
        return _from_text, (self.file, self.text())

    # ── Calls of commands ──

    def _input(self):
        """What lines name it by, with it."""
        name = self.file
        return (name if name and not name.startswith("-") else "<module>", None, [self._core])

    def _call(self, command: str, device: Any, set: Optional[Mapping[str, Any]], options: Mapping[str, Any],
              **own: Any) -> str:
        options = dict(options)
        max_seconds = options.pop("max_seconds", None)
        options.update(own)
        if set:
            options["set"] = changes_of(set)
        return call(command, [self._input()], simulation(device, options), max_seconds=max_seconds)

    def report(self, device: DeviceLike, topology: Union[None, str, Sequence[int]] = None, set: Optional[Mapping[str, Any]] = None,
               **options: Any) -> Report:
        """Estimates what it costs on a device: time, traffic, memory, padding.

        Parameters
        ----------
        device : str, os.PathLike or Device
            A built-in device ("v5e"), a device file, or a `Device`.
        topology : str or sequence of int, optional
            Slice of chips, as in "2x2x1"; or its sides, (2, 2, 1).
        set : dict, optional
            Other values for keys of the device: ``{"hbm.bandwidth": "900 GB/s"}``.
        **options
            See the class; ``max_seconds`` ends it with an error.

        Returns
        -------
        Report

        Raises
        ------
        Error
            No such device, key or option; a module that can't be simulated.

        Examples
        --------
        >>> import hlosim
        >>> m = hlosim.load("HloModule m\\nENTRY e { a = f32[8] parameter(0)  ROOT x = f32[8] add(a, a) }")
        >>> m.report("unit").time_us > 0
        True
        """
        options = dict(options, topology=topology)
        text = self._call("report", device, set, options, format="json")
        return Report(text, self, device, set, options)

    def advise(self, device: DeviceLike, set: Optional[Mapping[str, Any]] = None, *, budget: Union[float, str] = 30,
               only: Union[None, str, Sequence[str]] = None, apply: Union[None, int, Sequence[int]] = None,
               proof: bool = True, **options: Any) -> Advised:
        """Changes that save time or memory: simulated, executed to show equal results, ranked by what they save.

        Parameters
        ----------
        device : str, os.PathLike or Device
        set : dict, optional
        budget : float or str
            Seconds for everything; 0: no limit, and the same result on every machine.
        only : str or sequence of str, optional
            Kinds of advice, as ``hlosim advise --list-kinds`` lists them.
        apply : int or sequence of int, optional
            Numbers of advice, from 1, whose changed program is wanted.
        proof : bool
            Execute the program before and after each change.
        **options
            As `Module` describes.

        Returns
        -------
        Advised

        Raises
        ------
        Error
            As `report`; no advice of that number; advice that is a flag has no changed program.
        """
        options = dict(options, budget=text_of(budget), only=[only] if isinstance(only, str) else only,
                       no_proof=not proof)
        if apply is None:
            found = json.loads(self._call("advise", device, set, options, format="json"))
            return Advised(found["advice"], found, None)
        numbers = [apply] if isinstance(apply, int) else list(apply)
        max_seconds = options.pop("max_seconds", None)
        options.update(set=changes_of(set), format="json", output="-", apply=",".join(str(one) for one in numbers))
        line = ["advise"] + options_line(simulation(device, options)) + ["--", self._input()[0]]
        code, out, err, findings = _core.call(line, [self._input()], max_seconds, None)
        check(code, findings, err, worst=0)
        found = json.loads(err)
        return Advised(found["advice"], found, self._made(out.decode("utf-8", "replace")))

    def cost_analysis(self) -> Dict[str, float]:
        """Counts of XLA's HloCostAnalysis under the keys of JAX's ``compiled.cost_analysis()``.

        ``"flops"``, ``"transcendentals"``, ``"bytes accessed"``; ``"bytes accessed0{}"`` and so on for operands by their
        number, ``"bytes accessedout{}"`` for results. As in XLA, loops count once and custom calls -1.
        """
        found = json.loads(call("cost", [self._input()], {"format": "json"}))
        counts = {"flops": float(found["flops"]), "transcendentals": float(found["transcendentals"]),
                  "bytes accessed": float(found["bytes_accessed"])}
        for number, amount in enumerate(found["operand_bytes_accessed"]):
            counts["bytes accessed%d{}" % number] = float(amount)
        counts["bytes accessedout{}"] = float(found["output_bytes_accessed"])
        return counts

    def memory_analysis(self, device: DeviceLike = None, set: Optional[Mapping[str, Any]] = None) -> MemoryAnalysis:
        """Sizes of the buffer assignment under the names of JAX's ``compiled.memory_analysis()``.

        Parameters
        ----------
        device : str, os.PathLike or Device, optional
            Arrays without tiles are stored as it stores them; without it, as the module's text has them.
        set : dict, optional

        Returns
        -------
        MemoryAnalysis
            As attributes, in bytes on one device. ``generated_code_size_in_bytes`` is None: no code is generated.
        """
        options: Dict[str, Any] = {"format": "json"}
        if device is not None:
            options = simulation(device, dict(options, set=changes_of(set)))
        found = json.loads(call("buffers", [self._input()], options, worst=1))
        spaces = {one["space"]: one for one in found["spaces"]}
        sizes = {}
        for prefix, space in (("", 0), ("host_", 5)):
            one = spaces.get(space, {})
            aliased = one.get("aliased_bytes", 0)
            sizes[prefix + "argument_size_in_bytes"] = one.get("parameter_bytes", 0)
            sizes[prefix + "output_size_in_bytes"] = one.get("output_bytes", 0) + aliased
            sizes[prefix + "alias_size_in_bytes"] = aliased
            sizes[prefix + "temp_size_in_bytes"] = one.get("temporary_bytes", 0)
        return MemoryAnalysis(generated_code_size_in_bytes=None, host_generated_code_size_in_bytes=None, **sizes)

    def explain(self, name: str, device: DeviceLike, set: Optional[Mapping[str, Any]] = None, **options: Any) -> str:
        """The equation behind the time of the instruction `name`, number by number, as text."""
        options = dict(options)
        all_options = simulation(device, dict(options, set=changes_of(set)))
        return call("explain", [self._input()], all_options, names=[name])

    def lower(self, device: DeviceLike, set: Optional[Mapping[str, Any]] = None, *,
              passes: Optional[Sequence[str]] = None, **options: Any) -> "Module":
        """What a TPU compiler would roughly make of it; a module that one has made stays as it is.

        Parameters
        ----------
        device : str, os.PathLike or Device
        set : dict, optional
        passes : sequence of str, optional
            These passes in this order, on any module.

        Returns
        -------
        Module
        """
        if passes is not None and not isinstance(passes, str):
            passes = ",".join(passes)
        return _from_text("", self._call("lower", device, set, options, passes=passes))

    def partition(self, mesh: MeshLike = None, shard: ShardLike = None, *, partitions: Optional[int] = None,
                  hoist_gathers: Optional[str] = None, combine_collectives: Optional[str] = None,
                  windowed_products: Optional[str] = None, check: bool = False, seed: int = 0, max_seconds: Optional[float] = None) -> Partitioned:
        """What every device runs of a program with shardings, with the collectives that this takes.

        Parameters
        ----------
        mesh : str or dict, optional
            The devices as named axes, ``{"data": 4, "model": 2}``; not needed where the module's shardings specify all.
        shard : dict, str or list of str, optional
            Shardings of parameters: ``{"params.*kernel": ["data", "model"]}`` has a regular expression for names or op_names,
            and for each dimension an axis, a tuple of axes or None.
        partitions : int, optional
            Devices in place of a mesh.
        hoist_gathers : str, optional
            Loop-invariant values are gathered before the loop while that takes no more memory: ``"4GiB"``.
        combine_collectives : str, optional
            Independent collectives between the same devices are one up to so many bytes: ``"1MiB"``.
        windowed_products : str, optional
            ``"always"``: collective matmuls (all-gather + dot, dot + reduce-scatter); ``"threshold"``: from 256 MiB; else
            ``"never"``.
        check : bool
            Run both programs on random inputs made from `seed`, and compare.
        max_seconds : float, optional
            End with an error after this time.

        Returns
        -------
        Partitioned
            The module that ``hlosim partition`` writes, and the object of its ``--format=json``.

        Raises
        ------
        Error
            A mesh, a statement or a sharding that is wrong; an operation that can't be sharded; with `check`, other results.

        Examples
        --------
        >>> import hlosim
        >>> m = hlosim.load("HloModule m\\nENTRY e { x = f32[8,4] parameter(0)  w = f32[4,2] parameter(1) "
        ...                 "ROOT y = f32[8,2] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0} }")
        >>> made = m.partition({"data": 2}, {"x": ["data", None]}, check=True)
        >>> made.module.parameters[0].shape, made.module.partitions
        ((4, 4), 2)
        """
        options = {"mesh": mesh_text(mesh), "shard": shard_texts(shard), "partitions": partitions,
                   "hoist_gathers": hoist_gathers, "combine_collectives": combine_collectives,
                   "windowed_products": windowed_products}
        if check:
            options.update(check=True, seed=seed)
        text = call("partition", [self._input()], dict(options, format="json"), max_seconds=max_seconds)
        report = json.loads(text)[0]
        if check and not report["check"]["agrees"]:
            raise wrong("the partitioned program computes other results:\n" + "\n".join(
                "output %d  %s: device %d, %d of %d elements differ, largest error %s, %d outside the tolerance" % (
                    number, one["shape"], one["device"], one["different"], one["compared"], one["max_abs"], one["outside"])
                for number, one in enumerate(report["check"]["outputs"]) if not one["agrees"]))
        return Partitioned(_from_text("", report.pop("text")), report)

    def propagate(self, mesh: MeshLike = None, shard: ShardLike = None, *, partitions: Optional[int] = None) -> str:
        """Its text with the shardings that follow for all instructions, and who decided each; as `partition` takes it."""
        options = {"mesh": mesh_text(mesh), "shard": shard_texts(shard), "partitions": partitions}
        return call("partition", [self._input()], dict(options, propagate_only=True))

    def _tune(self, what: str, device: Any, set: Optional[Mapping[str, Any]], options: Mapping[str, Any],
              on_progress: Optional[Callable[[int, int], None]] = None, worst: int = 0) -> Tuned:
        options = dict(options)
        max_seconds = options.pop("max_seconds", None)
        options.update(set=changes_of(set), format="json", output="-")
        line = ["tune", what] + options_line(simulation(device, options)) + ["--", self._input()[0]]
        code, out, err, findings = _core.call(line, [self._input()], max_seconds, on_progress)
        check(code, findings, err, worst=worst)
        return Tuned(_from_text("", out.decode("utf-8", "replace")) if out else None, json.loads(err))

    def tune_layout(self, device: DeviceLike, set: Optional[Mapping[str, Any]] = None, **options: Any) -> Tuned:
        """Finds layouts that take less time, traffic or memory.

        Options besides those of every simulation: ``objective`` ("time", "bytes" or "memory"), ``values`` (a regular
        expression for names), ``tile``, ``free_entry``, ``what_if``, ``seed``, ``moves``, ``exact_steps``,
        ``budget`` (seconds).

        Returns
        -------
        Tuned
            The rewritten module, and the output of ``hlosim tune layout --format=json``.
        """
        return self._tune("layout", device, set, options)

    def tune_prefetch(self, device: DeviceLike, set: Optional[Mapping[str, Any]] = None, **options: Any) -> Tuned:
        """Decides what is in on-chip memory when, and which copies bring it there.

        Options besides those of every simulation: ``algorithm`` ("strong", "greedy", "xla"), ``objective``, ``strip``,
        ``keep_order``, ``seed``, ``budget`` ("10s"), ``moves``, ``knob`` (a dictionary).
        """
        return self._tune("prefetch", device, set, options)

    def tune_schedule(self, device: DeviceLike, set: Optional[Mapping[str, Any]] = None, **options: Any) -> Tuned:
        """Hides transfers behind work: collectives in two parts, a new order.

        Options besides those of every simulation: ``knob`` (a dictionary), ``no_split``, ``always``.
        """
        return self._tune("schedule", device, set, options)

    def tune_mesh(self, device: DeviceLike, devices: int, axes: "Union[str, Sequence[str]]",
                  topology: Union[None, str, Sequence[int]] = None, set: Optional[Mapping[str, Any]] = None, *,
                  progress: Optional[Callable[[int, int], None]] = None, **options: Any) -> Tuned:
        """Finds the mesh, and the shardings of parameters, with which a program runs fastest.

        Parameters
        ----------
        device : str, os.PathLike or Device
        devices : int
            Of every mesh.
        axes : str or sequence of str
            Names of the meshes' axes: ``["data", "model"]``.
        topology : str or sequence of int, optional
            Slice of chips.
        set : dict, optional
        progress : callable, optional
            Called with the number of points that are done and that are to be done, of the present batch.
        **options
            ``shard`` (as `partition` takes it, on every mesh; without it all ways are tried), ``written_for``,
            ``mesh_order``, ``within``, ``all`` (leave out nothing), ``journal``, ``slices``, ``while_trip_count``,
            ``lower``, ``max_seconds``.

        Returns
        -------
        Tuned
            The program that the fastest choice which fits gives, None where there is none, and what ``hlosim tune mesh
            --format=json``: ``report["rows"]`` has the choices, the best first.
        """
        options = dict(options, devices=devices, axes=axes_text(axes), topology=topology)
        return self._tune("mesh", device, set, options, progress, worst=1)

    # ── Execution ──

    def run(self, *arrays: Any, per_device: Optional[Sequence[Sequence[Any]]] = None, args: Optional[str] = None,
            seed: int = 0, global_: bool = False, max_seconds: Optional[float] = None,
            max_memory: Union[None, int, str] = None, **options: Any):
        """Executes it on this processor.

        Other threads of Python go on meanwhile; Ctrl-C ends it at the next instruction.

        Parameters
        ----------
        *arrays : array_like
            One for each of `parameters`, of its type and shape. What NumPy has no type for comes as ml_dtypes have it,
            or as integers of the same bytes. Numbers and lists of Python are converted.
        per_device : sequence of sequences, optional
            In place of `arrays`: the arguments of each device, where several run. Otherwise all get the same.
        args : {"random", "zeros", "iota"}, optional
            In place of `arrays`: make them up.
        seed : int
            Of random values.
        global_ : bool
            Arguments and results are those of all partitions together, split by the sharding attributes.
        max_seconds : float, optional
            End with an error after this time.
        max_memory : int or str, optional
            Bytes, or "8GiB"; a module whose arrays need more is an error.
        **options
            Of ``hlosim run``: ``peers="twins"``, ``replicas``, ``partitions``, ``elided="zeros"``, ``kernel={…}``,
            ``physical=True``, ….

        Returns
        -------
        numpy.ndarray, tuple, or list of these
            The result; of a tuple its leaves. A token is None. Of several devices, a list by device.

        Raises
        ------
        Error
            Wrong arguments; what an instruction met while it ran, with its place; a failed check.
        KeyboardInterrupt

        Examples
        --------
        >>> import hlosim
        >>> m = hlosim.load("HloModule m\\nENTRY e { a = f32[2] parameter(0)  ROOT x = f32[2] add(a, a) }")
        >>> m.run([1.5, 2.0])
        array([3., 4.], dtype=float32)
        """
        if arrays and per_device is not None:
            raise wrong("arrays and per_device exclude each other")
        if per_device is not None and global_:
            raise wrong("per_device and global_ exclude each other")
        wanted = self.parameters
        lists = [arrays] if per_device is None else list(per_device)
        check_types = [] if global_ else wanted
        given = [] if args is not None and not arrays and per_device is None else \
            [given_list(one, check_types if not global_ else wanted) for one in lists]
        options = dict(options, args=args, seed=seed, global_=global_, max_memory=max_memory)
        line = ["run", self._input()[0]] + options_line(options)
        (code, _, err, findings), outputs = _core.run(line, self._core, given, max_seconds)
        check(code, findings, err, worst=0)
        results = [self._result([result_array(leaf) for leaf in leaves]) for _, leaves in outputs]
        return results[0] if len(results) == 1 else results

    def _result(self, leaves: List[Any]):
        return tuple(leaves) if self._core.gives_tuple else leaves[0]


def _from_text(name: str, text: str) -> Module:
    """The module of a text that the program wrote: a command's output, or a pickle."""
    modules, findings = _core.load(name or "<text>", text, [])
    check(0 if modules else 2, findings)
    return Module(modules[0])
