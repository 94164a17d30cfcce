"""Meshes of devices and shardings as the program's commands write them."""
from __future__ import annotations

from typing import Any, List, Mapping, Optional, Sequence


def mesh_text(mesh: Any) -> Optional[str]:
    """A mesh by its axes, largest first, as text.

    >>> mesh_text({"data": 4, "model": 2}), mesh_text("data=4,model=2"), mesh_text(None)
    ('data=4,model=2', 'data=4,model=2', None)
    """
    if not isinstance(mesh, Mapping):
        return mesh
    return ",".join("%s=%d" % (axis, size) for axis, size in mesh.items())


def _dimension_text(axes: Any) -> str:
    if axes is None:
        return "_"
    return axes if isinstance(axes, str) else "{%s}" % ",".join(axes)


def shard_texts(shard: Any) -> List[str]:
    """Shardings of parameters, as values of --shard.

    A dictionary has a regular expression for names, and for each dimension the axis that shards it, several, or None, as
    a PartitionSpec of JAX has them.

    >>> shard_texts({"params.*kernel": ["data", "model"], "x": [("data", "model"), None]})
    ['params.*kernel=[data,model]', 'x=[{data,model},_]']
    >>> shard_texts("x=[data]")
    ['x=[data]']
    """
    if shard is None:
        return []
    if isinstance(shard, str):
        return [shard]
    if isinstance(shard, Mapping):
        return ["%s=%s" % (names, axes if isinstance(axes, str) else
                           "[%s]" % ",".join(_dimension_text(one) for one in axes)) for names, axes in shard.items()]
    return list(shard)


def axes_text(axes: "str | Sequence[str]") -> str:
    """Names of axes as one word: "data,model"."""
    return axes if isinstance(axes, str) else ",".join(axes)
