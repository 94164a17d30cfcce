"""pytest's plugin: ``--hlosim-update``, ``--hlosim-baselines`` and the fixture ``hlosim_gate``.

::

    def test_step(hlosim_gate):
        hlosim_gate(jax.jit(step).lower(x).compile(), device="v5e")

holds the module against the report of before, ``hlosim_baselines/test_step.json`` in the test's folder; see `hlosim.gate`,
which does the same for what a test returns.
"""
from __future__ import annotations

import os

from ._diff import as_report
from ._gate import Baselines, _limits, run


def pytest_addoption(parser):
    group = parser.getgroup("hlosim")
    group.addoption("--hlosim-update", action="store_true", help="write the baselines of gates anew")
    group.addoption("--hlosim-baselines", metavar="DIR", help="folder of the baselines (default: hlosim_baselines next to each test)")


def pytest_configure(config):
    run.updates = bool(config.getoption("--hlosim-update"))
    run.folder = config.getoption("--hlosim-baselines")


def pytest_unconfigure(config):
    run.updates, run.folder = False, None


class Gate:
    """What the fixture gives: called with a module, it asserts that it costs no more than before."""

    def __init__(self, folder: str, name: str):
        self.folder, self.name = folder, name
        self.calls = 0

    def __call__(self, module, device, *, tolerance=0, metrics=("time",), name=None, set=None, **options):
        __tracebackhide__ = True
        report = as_report(module, device, dict(options, set=set))
        self.calls += 1
        own = name or (self.name if self.calls == 1 else "%s-%d" % (self.name, self.calls))
        return Baselines(self.folder, run.is_updating()).check(own, report, _limits(metrics, tolerance))


def _fixture():
    import pytest

    @pytest.fixture
    def hlosim_gate(request):
        """A gate of the test's own; see hlosim.pytest_plugin."""
        folder = run.folder or os.path.join(str(request.path.parent), "hlosim_baselines")
        return Gate(folder, request.node.name)

    return hlosim_gate


try:
    hlosim_gate = _fixture()
except ImportError:  # no pytest: nobody uses the fixture
    pass
