from typing import Any, Callable, List, Optional, Sequence, Tuple

version: str
model_version: int

# severity, message, hint, file, line, column, text
_Finding = Tuple[str, str, str, Optional[str], Optional[int], Optional[int], str]
# name, text, type, shape
_Array = Tuple[str, str, Optional[str], Tuple[int, ...]]
_Input = Tuple[str, Any, Sequence["Module"]]
_Result = Tuple[int, bytes, str, List[_Finding]]

class Module:
    name: str
    file: str
    fingerprint: str
    is_scheduled: bool
    replicas: int
    partitions: int
    instructions: int
    gives_tuple: bool
    def parameters(self) -> List[_Array]: ...
    def results(self) -> List[_Array]: ...
    def text(self) -> str: ...

class Layout:
    text: str
    type: str
    shape: Tuple[int, ...]
    extent: int
    element_bits: int
    unpadded_bytes: int
    padded_bytes: int
    expansion: float
    tiled_dimensions: Tuple[int, ...]
    def offset(self, index: Sequence[int]) -> int: ...
    def index(self, offset: int) -> Optional[List[int]]: ...

class Leaf:
    type: str
    shape: Tuple[int, ...]

def load(path: str, text: Any, options: Sequence[str]) -> Tuple[List[Module], List[_Finding]]: ...
def call(line: Sequence[str], inputs: Sequence[_Input], max_seconds: Optional[float] = None,
         on_progress: Optional[Callable[[int, int], Any]] = None) -> _Result: ...
def run(line: Sequence[str], module: Module, arrays: Sequence[Sequence[Tuple[str, Sequence[int], Any]]],
        max_seconds: Optional[float] = None) -> Tuple[_Result, List[Tuple[str, List[Leaf]]]]: ...
def layout(text: str) -> Tuple[Optional[Layout], List[_Finding]]: ...
