"""Arrays of modules as NumPy's, and back."""
from __future__ import annotations

from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

from ._errors import needed, wrong

# What NumPy has itself, by the names of HLO.
_NATIVE = {"pred": "bool", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64", "u8": "uint8", "u16": "uint16",
           "u32": "uint32", "u64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64",
           "c128": "complex128"}
# What ml_dtypes adds, and what stands for it where that isn't installed: the same bytes as integers.
_ADDED = {"bf16": ("bfloat16", "uint16"), "s1": ("int1", "int8"), "s2": ("int2", "int8"), "s4": ("int4", "int8"),
          "u1": ("uint1", "uint8"), "u2": ("uint2", "uint8"), "u4": ("uint4", "uint8"),
          "f4e2m1fn": ("float4_e2m1fn", "uint8"), "f6e2m3fn": ("float6_e2m3fn", "uint8"),
          "f6e3m2fn": ("float6_e3m2fn", "uint8"), "f8e3m4": ("float8_e3m4", "uint8"),
          "f8e4m3": ("float8_e4m3", "uint8"), "f8e4m3b11fnuz": ("float8_e4m3b11fnuz", "uint8"),
          "f8e4m3fn": ("float8_e4m3fn", "uint8"), "f8e4m3fnuz": ("float8_e4m3fnuz", "uint8"),
          "f8e5m2": ("float8_e5m2", "uint8"), "f8e5m2fnuz": ("float8_e5m2fnuz", "uint8"),
          "f8e8m0fnu": ("float8_e8m0fnu", "uint8")}


class ArrayType(NamedTuple):
    """An array that a module takes or gives."""

    name: str  # "parameter 0 'x'"
    text: str  # "bf16[256,1024]{1,0:T(8,128)(2,1)}"
    type: Optional[str]  # "bf16"; None: a token
    shape: Tuple[int, ...]

    @property
    def dtype(self):
        """NumPy's type of it, as arrays come out of ``Module.run``."""
        return numpy_type(self.type) if self.type else None


def _added_type(name: str):
    try:
        import ml_dtypes
    except ImportError:
        return None
    return getattr(ml_dtypes, name, None)


def numpy_type(element_type: str):
    """The ``numpy.dtype`` of an element type of HLO.

    What NumPy lacks is ml_dtypes' where that is installed, else integers of the same bytes.

    >>> numpy_type("f32"), numpy_type("s4").itemsize
    (dtype('float32'), 1)
    """
    numpy = needed("numpy", "hlosim.Module.run")

    if element_type in _NATIVE:
        return numpy.dtype(_NATIVE[element_type])
    added, stand_in = _ADDED[element_type]
    return numpy.dtype(_added_type(added) or stand_in)


def to_bfloat16_bits(values):
    """Floats as the 16 bits of bfloat16, rounded to the nearest, ties to even.

    >>> [hex(v) for v in to_bfloat16_bits([1.0, -2.0])]
    ['0x3f80', '0xc000']
    """
    numpy = needed("numpy", "hlosim.Module.run")

    bits = numpy.atleast_1d(numpy.asarray(values, dtype=numpy.float32)).view(numpy.uint32)
    rounded = (bits + numpy.uint32(0x7FFF) + ((bits >> numpy.uint32(16)) & numpy.uint32(1))) >> numpy.uint32(16)
    is_nan = (bits & numpy.uint32(0x7FFFFFFF)) > numpy.uint32(0x7F800000)
    return numpy.where(is_nan, (bits >> numpy.uint32(16)) | numpy.uint32(0x40), rounded).astype(
        numpy.uint16).reshape(numpy.shape(values))


def from_bfloat16_bits(bits):
    """The values of 16-bit words of bfloat16, as float32.

    >>> import numpy
    >>> from_bfloat16_bits(numpy.array([0x3f80], dtype="uint16"))
    array([1.], dtype=float32)
    """
    numpy = needed("numpy", "hlosim.Module.run")

    return (numpy.asarray(bits).view(numpy.uint16).astype(numpy.uint32) << numpy.uint32(16)).view(numpy.float32)


def _from_numbers(value: Any, wanted: ArrayType):
    """Numbers and lists of Python become what is wanted."""
    numpy = needed("numpy", "hlosim.Module.run")

    if wanted.type in _NATIVE or _added_type(_ADDED[wanted.type][0]) is not None:
        return numpy.asarray(value).astype(numpy_type(wanted.type))
    if wanted.type == "bf16":
        return to_bfloat16_bits(value)
    if wanted.type[0] in "su":
        return numpy.asarray(value).astype(numpy_type(wanted.type))
    raise wrong("%s: numbers of Python can't become %s" % (wanted.name, wanted.type),
                "an array of ml_dtypes, or of the same bytes as %s" % _ADDED[wanted.type][1])


def given_array(value: Any, wanted: Optional[ArrayType]) -> Tuple[str, List[int], Any]:
    """(descr, shape, bytes) of an argument, as _core takes it."""
    numpy = needed("numpy", "hlosim.Module.run")

    if wanted is not None and wanted.type and not hasattr(value, "dtype") and not hasattr(value, "__array__"):
        value = _from_numbers(value, wanted)
    array = numpy.asarray(value)
    if array.dtype.hasobject:
        raise wrong("%s: an array of objects is given" % (wanted.name if wanted else "argument"))
    descr = array.dtype.str if array.dtype.isbuiltin == 1 or array.dtype.kind == "V" and not array.dtype.isbuiltin \
        else array.dtype.name
    if not array.dtype.isnative and array.dtype.isbuiltin == 0:
        descr = array.dtype.str
    shape = list(array.shape)
    flat = numpy.ascontiguousarray(array).reshape(-1)
    raw = flat.view(numpy.uint8) if flat.size else numpy.zeros(0, numpy.uint8)
    return descr, shape, raw


def result_array(leaf):
    """The array of a _core.Leaf, over its bytes; None of a token."""
    numpy = needed("numpy", "hlosim.Module.run")

    if not leaf.type:
        return None
    dtype = numpy_type(leaf.type)
    if 0 in leaf.shape:
        return numpy.zeros(leaf.shape, dtype)
    return numpy.frombuffer(leaf, dtype=numpy.uint8).view(dtype).reshape(leaf.shape)


def given_list(values: Sequence[Any], wanted: Sequence[ArrayType]) -> List[Tuple[str, List[int], Any]]:
    arrays = [one for one in wanted if one.type]
    return [given_array(value, arrays[i] if i < len(arrays) else None) for i, value in enumerate(values)]
