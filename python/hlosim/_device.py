"""Devices."""
from __future__ import annotations

import difflib
import json
import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from ._calls import call, changes_of
from ._mesh import mesh_text, shard_texts


def devices() -> List[str]:
    """The names of the built-in devices.

    >>> import hlosim
    >>> "v5e" in hlosim.devices()
    True
    """
    return [one["file"].split(".yaml")[0] for one in json.loads(call("devices", options={"format": "json"}))]


class Device:
    """A device, as it is or changed.

    Parameters
    ----------
    name : str or os.PathLike
        A built-in device ("v5e"), a device file.
    set : dict, optional
        Other values for its keys, with units: ``{"memory.hbm.capacity": "16 GiB"}``.
    xla_flags : str or sequence of str, optional
        Flags that the compiler was given, as in XLA_FLAGS and LIBTPU_INIT_ARGS; ``@FILE`` has them in a file.

    Raises
    ------
    Error
        No such device or key, a value that the key can't have.

    Examples
    --------
    >>> import hlosim
    >>> d = hlosim.Device("v5e", set={"clock": "1 GHz"})
    >>> d.name, d["clock"]
    ('TPU v5e', '1 GHz')
    """

    def __init__(self, name: Union[str, "os.PathLike[str]", "Device"], set: Optional[Mapping[str, Any]] = None,
                 xla_flags: Union[None, str, Sequence[str]] = None):
        self.changes: Dict[str, Any] = {}
        self.xla_flags: List[str] = []
        if isinstance(name, Device):
            self.changes.update(name.changes)
            self.xla_flags += name.xla_flags
            name = name.file
        self.file = os.fspath(name)
        self.changes.update(changes_of(set))
        self.xla_flags += [xla_flags] if isinstance(xla_flags, str) else list(xla_flags or [])
        self._data = json.loads(self._print("json"))

    def _print(self, format: str) -> str:
        return call("devices", names=[self.file],
                    options={"format": format, "set": self.changes, "xla_flags": self.xla_flags})

    @property
    def name(self) -> str:
        """Full name, "TPU v5e"."""
        return self._data["name"]

    @property
    def fingerprint(self) -> str:
        """16 hex digits over all values."""
        return self._data["fingerprint"]

    @property
    def values(self) -> Dict[str, str]:
        """Every key with its value as text, units included."""
        return {one["path"]: one["value"] for one in self._data["values"]}

    @property
    def sources(self) -> Dict[str, Optional[str]]:
        """Every key with where its value comes from."""
        return {one["path"]: one["source"] for one in self._data["values"]}

    def __getitem__(self, path: str) -> str:
        if not isinstance(path, str):
            raise TypeError("a key is a text such as \"hbm.bandwidth\", not %r" % (path,))
        values = self.values
        for one in (path, "memory." + path):  # the short form, as `set` takes it
            if one in values:
                return values[one]
        near = difflib.get_close_matches(path, values, 1)
        raise KeyError(path + ("; did you mean %s?" % near[0] if near else ""))

    def to_dict(self) -> Dict[str, Any]:
        """What ``hlosim devices NAME --format=json`` prints."""
        return json.loads(json.dumps(self._data))

    def to_yaml(self) -> str:
        """A device file of it."""
        return self._print("yaml")

    def __eq__(self, other) -> bool:
        return isinstance(other, Device) and (self.name, self.fingerprint) == (other.name, other.fingerprint)

    def __hash__(self) -> int:
        return hash((self.name, self.fingerprint))

    def __repr__(self) -> str:
        changes = ", set=%r" % self.changes if self.changes else ""
        flags = ", xla_flags=%r" % self.xla_flags if self.xla_flags else ""
        return "hlosim.Device(%r%s%s)" % (self.file, changes, flags)


def simulation(device: Any, options: Mapping[str, Any]) -> Dict[str, Any]:
    """The options of commands that simulate: those of the device, those given, ``lower=False`` as --no-lower,
    ``partition=False`` as --no-partition."""
    if isinstance(device, (list, tuple)):
        raise TypeError("device: expects one device, not several; hlosim.compare and hlosim.sweep take lists")
    all_options: Dict[str, Any] = dict(options)
    if isinstance(device, Device):
        changes = dict(device.changes)
        changes.update(changes_of(all_options.get("set")))
        all_options["set"] = changes
        flags = all_options.get("xla_flags") or []
        all_options["xla_flags"] = list(device.xla_flags) + ([flags] if isinstance(flags, str) else list(flags))
        device = device.file
    all_options["device"] = device
    for name in ("mesh", "written_for"):
        if name in all_options:
            all_options[name] = mesh_text(all_options[name])
    if "shard" in all_options:
        all_options["shard"] = shard_texts(all_options["shard"])
    if isinstance(all_options.get("topology"), (list, tuple)):
        all_options["topology"] = "x".join(str(one) for one in all_options["topology"])
    for name in ("lower", "partition"):
        if name in all_options:
            all_options["no_" + name] = not all_options.pop(name)
    return all_options
