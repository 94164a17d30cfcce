"""Pictures, doctests, the examples of docs/python.md and README.md."""
import doctest
import importlib
import json
import os
import pkgutil
import re

import pytest
from conftest import ROOT

import hlosim


def test_plots(mlp):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    from hlosim import plot

    report = mlp.report("v5e")
    axes = plot.timeline(report)
    assert [label.get_text() for label in axes.get_yticklabels()][0] == "TensorCore" and axes.collections
    assert len(plot.roofline(report).collections) == 2
    assert len(plot.memory(report).patches) > 3
    assert plot.categories(report, mlp.report("v4")).patches
    assert plot.layout("bf16[16,256]{1,0:T(8,128)(2,1)}").images
    with pytest.raises(ValueError):
        plot.layout("f32[2,3,4]")
    pyplot.close("all")


def modules():
    names = [one.name for one in pkgutil.iter_modules(hlosim.__path__) if one.name not in ("_core", "__main__")]
    return ["hlosim"] + ["hlosim." + name for name in sorted(names)]


@pytest.mark.parametrize("name", modules())
def test_doctests(name):
    needs = {"hlosim.plot": "matplotlib", "hlosim._sweep": "pandas", "hlosim._arrays": "numpy"}
    if name in needs:
        pytest.importorskip(needs[name])
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert found.failed == 0


def test_every_public_name_has_a_docstring():
    for name in hlosim.__all__:
        one = getattr(hlosim, name)
        assert name == "model_version" or one.__doc__, name
        for key, value in vars(one).items() if isinstance(one, type) else ():
            if not key.startswith("_") and (callable(value) or isinstance(value, property)):
                assert value.__doc__, "%s.%s" % (name, key)


def test_the_notebook_as_plain_code(monkeypatch, capsys):
    """Its cells one after the other, without Jupyter; the last expression of a cell is what Jupyter would show."""
    for package in ("numpy", "pandas", "matplotlib"):
        pytest.importorskip(package)
    from matplotlib import pyplot

    monkeypatch.chdir(ROOT / "examples")
    cells = [cell for cell in json.loads((ROOT / "examples/hlosim.ipynb").read_text())["cells"] if cell["cell_type"] == "code"]
    names = {"__name__": "__main__"}
    for cell in cells:
        exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
        # What it shows was stored with it: pictures and tables are there for who reads it on a web page.
        assert cell["outputs"] or not "".join(cell["source"]).strip(), cell["id"]
    assert len(pyplot.get_fignums()) >= 5 and names["report"].time_us > 0
    pyplot.close("all")


def test_the_examples_of_the_documentation(tmp_path, monkeypatch):
    """The blocks of docs/python.md run in order, one after the other."""
    for package in ("numpy", "pandas", "matplotlib"):
        pytest.importorskip(package)
    import matplotlib

    matplotlib.use("Agg")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.S)
    names = {}
    for block in blocks:
        if ">>>" in block:
            examples = doctest.DocTestParser().get_doctest(block, names, "docs/python.md", None, 0)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
            runner.run(examples, clear_globs=False)
            assert runner.failures == 0, block
            names = examples.globs
        else:
            exec(compile(block, "docs/python.md", "exec"), names)
    assert len(blocks) >= 6


def test_the_lines_of_the_readme(tmp_path, monkeypatch, capsys):
    """They run, and print what stands behind the last one (HLOSIM_UPDATE=1 writes it anew)."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text()
    block, = re.findall(r"```python\n(.*?)```", text, re.S)
    exec(compile(block, "README.md", "exec"), {})
    said = capsys.readouterr().out.strip()
    shown = re.search(r"print\(.*  # (.*)$", block, re.M).group(1)
    if said != shown and os.environ.get("HLOSIM_UPDATE"):
        (ROOT / "README.md").write_text(text.replace("# " + shown + "\n", "# " + said + "\n"))
    else:
        assert said == shown
