"""No files of the Python package import each other in a circle, imports inside of functions included.

  python_imports_test.py ROOT
"""
import ast
import pathlib
import sys


def imports(text, names):
    """Files of the package that a file imports, with the line of each."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            for name in [node.module] if node.module else [alias.name for alias in node.names]:
                yield name, node.lineno
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for name in [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module]:
                if name.startswith("hlosim."):
                    yield name.split(".")[1], node.lineno


def circles(files):
    """One finding per circle that a depth-first walk closes; `files`: text by name."""
    edges = {name: [one for one in imports(text, files) if one[0] in files] for name, text in files.items()}
    state = {}

    def visit(name, path):
        state[name] = "open"
        for other, line in edges[name]:
            if state.get(other) == "open":
                yield f"python/hlosim/{name}.py:{line}: a circle of imports: {' -> '.join(path[path.index(other):] + [other])}"
            elif other not in state:
                yield from visit(other, path + [other])
        state[name] = "done"

    for name in files:
        if name not in state:
            yield from visit(name, [name])


planted = {"a": "from .b import x\n", "b": "import json\n\ndef f():\n    from . import c, d\n", "c": "import hlosim.a\n", "d": ""}
assert list(circles(planted)) == ["python/hlosim/c.py:1: a circle of imports: a -> b -> c -> a"]
assert not list(circles({**planted, "c": "from .d import x\n"}))
package = pathlib.Path(sys.argv[1], "python", "hlosim")
found = list(circles({path.stem: path.read_text(encoding="utf-8") for path in package.glob("*.py")}))
print("\n".join(found))
sys.exit(1 if found else 0)
