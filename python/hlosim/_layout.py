"""Tiled layouts as functions from index to offset."""
from __future__ import annotations

import operator
from typing import Optional, Tuple

from . import _core
from ._errors import check


class Layout:
    """Positions of the elements of an array in memory.

    Parameters
    ----------
    text : str
        An array shape with its layout; without one it is row-major.

    Raises
    ------
    Error
        No array, an invalid layout, a size that isn't known.

    Examples
    --------
    >>> import hlosim
    >>> layout = hlosim.Layout("bf16[256,256]{1,0:T(8,128)(2,1)}")
    >>> layout.offset(9, 130), layout.index(3077), layout.padded_bytes
    (3077, (9, 130), 131072)
    """

    def __init__(self, text: str):
        core, findings = _core.layout(text)
        check(0 if core is not None else 2, findings)
        self._core = core

    @property
    def shape(self) -> Tuple[int, ...]:
        """Sizes of the logical dimensions; dynamic ones by their bound."""
        return self._core.shape

    @property
    def type(self) -> str:
        """Element type, as HLO spells it."""
        return self._core.type

    @property
    def extent(self) -> int:
        """Slots for elements, padding included."""
        return self._core.extent

    @property
    def tiled_dimensions(self) -> Tuple[int, ...]:
        """Sizes after all tiles, the most major first."""
        return self._core.tiled_dimensions

    @property
    def element_bits(self) -> int:
        """Bits that one element takes in memory."""
        return self._core.element_bits

    @property
    def unpadded_bytes(self) -> int:
        """Bytes of the elements alone."""
        return self._core.unpadded_bytes

    @property
    def padded_bytes(self) -> int:
        """Bytes of an allocation of it."""
        return self._core.padded_bytes

    @property
    def expansion(self) -> float:
        """Padded bytes over unpadded bytes."""
        return self._core.expansion

    def offset(self, *index: int) -> int:
        """The slot of an element, counted in elements from the start.

        Raises
        ------
        IndexError
            Another number of indices than dimensions, or one out of bounds.
        """
        if len(index) != len(self.shape):
            raise IndexError("%d indices for %d dimensions" % (len(index), len(self.shape)))
        numbers = [operator.index(one) for one in index]
        for number, size in zip(numbers, self.shape):
            if not 0 <= number < size:
                raise IndexError("index %d is out of bounds for size %d" % (number, size))
        return self._core.offset(numbers)

    def index(self, offset: int) -> Optional[Tuple[int, ...]]:
        """The element in a slot; None: padding.

        Raises
        ------
        IndexError
            No slot of the array.
        """
        if not 0 <= operator.index(offset) < self.extent:
            raise IndexError("offset %d of %d slots" % (offset, self.extent))
        index = self._core.index(offset)
        return None if index is None else tuple(index)

    def __str__(self) -> str:
        return self._core.text

    def __repr__(self) -> str:
        return "hlosim.Layout(%r)" % str(self)

    def __eq__(self, other) -> bool:
        return isinstance(other, Layout) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))
