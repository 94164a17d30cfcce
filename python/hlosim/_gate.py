"""Performance gates in the tests that people already have."""
from __future__ import annotations

import functools
import os
import re
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from ._diff import Diff, _amount, as_report
from ._report import Report

#: Metrics of a gate by default.
METRICS = ("time",)


class _Run:
    """Settings of a whole run of tests: ``--hlosim-update`` and ``--hlosim-baselines`` of hlosim.pytest_plugin."""

    updates = False
    folder: Optional[str] = None  # of all baselines

    def is_updating(self) -> bool:
        """Baselines are written anew: --hlosim-update, or HLOSIM_UPDATE in the environment."""
        return self.updates or os.environ.get("HLOSIM_UPDATE", "") not in ("", "0")


run = _Run()


class Slower(AssertionError):
    """Something costs more than it may. ``diff`` has the difference, by instruction."""

    def __init__(self, message: str, diff: Diff):
        super().__init__(message)
        self.diff = diff


def _limits(metrics: Union[Sequence[str], Mapping[str, float]], tolerance: float) -> Dict[str, float]:
    if isinstance(metrics, str):
        metrics = [metrics]
    limits = dict(metrics) if isinstance(metrics, Mapping) else {name: tolerance for name in metrics}
    if not all(limit >= 0 for limit in limits.values()):
        raise ValueError("a tolerance is a share from 0 on: 0.01 allows 1 %")
    return limits


def _too_much(diff: Diff, limits: Mapping[str, float]) -> List[str]:
    """The metrics that rose by more than they may, in words."""
    worse = []
    for name, limit in limits.items():
        one = diff.metrics.get(name)
        if one is None:
            raise ValueError("%s is not a metric; there are %s" % (name, ", ".join(diff.metrics)))
        if one["change"] > limit * one["before"]:
            share = " (+%.2f %%)" % (100 * one["change"] / one["before"]) if one["before"] else ""
            worse.append("%s: %s → %s%s, allowed +%g %%" % (
                name, _amount(one["unit"], one["before"]), _amount(one["unit"], one["after"]), share, 100 * limit))
    return worse


def assert_no_slower(new: Any, old: Any, device: Any = None, *, tolerance: float = 0,
                     metrics: Union[Sequence[str], Mapping[str, float]] = METRICS,
                     set: Optional[Mapping[str, Any]] = None, **options: Any) -> Diff:
    """Asserts that one module costs no more than another.

    The numbers are simulated: the same on every machine and every time, so a tolerance is a decision and no allowance
    for noise.

    Parameters
    ----------
    new, old : Module, Report, or what `load` takes
    device : str, os.PathLike or Device
        Of modules; not needed for reports.
    tolerance : float
        The share by which a metric may rise.
    metrics : sequence of str, or dict
        Names of ``Report.metrics``; a dictionary has a tolerance for each.
    set, **options
        As of `Module.report`.

    Returns
    -------
    Diff

    Raises
    ------
    Slower
        An AssertionError that names the metric that rose, and the instructions that caused it.

    Examples
    --------
    >>> import hlosim
    >>> text = "HloModule m\\nENTRY e { a = f32[%d] parameter(0)  ROOT x = f32[%d] add(a, a) }"
    >>> small, large = text % (8, 8), text % (80000, 80000)
    >>> hlosim.assert_no_slower(small, large, device="v5e").change() < 0
    True
    >>> hlosim.assert_no_slower(large, small, device="v5e")
    Traceback (most recent call last):
        ...
    hlosim._gate.Slower: time: ...
    """
    __tracebackhide__ = True
    limits = _limits(metrics, tolerance)
    options = dict(options, set=set)
    diff = Diff(as_report(old, device, options), as_report(new, device, options))
    worse = _too_much(diff, limits)
    if worse:
        raise Slower("\n".join(worse) + "\n\n" + diff.text(top=5), diff)
    return diff


class Baselines:
    """Reports of before in a folder, a JSON file for each name."""

    def __init__(self, folder: "os.PathLike[str] | str", update: bool = False):
        self.folder, self.update = os.fspath(folder), update
        self.written: List[str] = []

    def path(self, name: str) -> str:
        return os.path.join(self.folder, re.sub(r"[^A-Za-z0-9_.=,@-]+", "_", name).strip("_") + ".json")

    def read(self, name: str) -> Optional[Report]:
        try:
            with open(self.path(name), encoding="utf-8") as file:
                text = file.read()
        except FileNotFoundError:
            return None
        try:
            return Report.from_json(text)
        except ValueError as error:
            if self.update:
                return None
            raise AssertionError("%s is not a baseline (%s); renew it with --hlosim-update, or HLOSIM_UPDATE=1"
                                 % (self.path(name), error)) from None

    def write(self, name: str, report: Report) -> None:
        os.makedirs(self.folder, exist_ok=True)
        report.save(self.path(name))
        self.written.append(name)

    def check(self, name: str, report: Report, limits: Mapping[str, float]) -> Optional[Diff]:
        """Holds a report against that of before; None where it becomes that."""
        __tracebackhide__ = True  # pytest shows the test, not us
        before = self.read(name)
        if before is None or self.update:
            if before is None and not self.update:
                raise AssertionError("%s has no baseline in %s; run once with --hlosim-update, or HLOSIM_UPDATE=1"
                                     % (name, self.folder))
            self.write(name, report)
            return None
        diff = Diff(before, report)
        if not diff.same_device or not diff.same_model:
            what = "device" if not diff.same_device else "model of hlosim"
            raise AssertionError("%s: the baseline is of another %s, so the numbers don't compare; renew it with "
                                 "--hlosim-update, or HLOSIM_UPDATE=1" % (name, what))
        worse = _too_much(diff, limits)
        if worse:
            raise Slower("%s costs more than %s\n%s\n\n%s" % (name, self.path(name), "\n".join(worse), diff.text(top=5)),
                         diff)
        return diff


def gate(device: Any, *, baselines: "os.PathLike[str] | str | None" = None, name: Optional[str] = None,
         tolerance: float = 0, metrics: Union[Sequence[str], Mapping[str, float]] = METRICS,
         set: Optional[Mapping[str, Any]] = None, **options: Any) -> Callable[[Callable], Callable]:
    """Makes a gate of a test: what the test returns may cost no more than it did.

    The test returns a module, or what `load` takes (JAX's ``jit(f).lower(x).compile()``). Its report is kept in
    ``hlosim_baselines/`` in the folder of the test's file, to be committed; ``HLOSIM_UPDATE=1`` or pytest's ``--hlosim-update``
    writes it anew.

    Parameters
    ----------
    device : str, os.PathLike or Device
    baselines : path, optional
        Another folder.
    name : str, optional
        Of the baseline; by default that of the test. Tests of one folder that have the same name need it.
    tolerance, metrics
        As of `assert_no_slower`.
    set, **options
        As of `Module.report`.

    Examples
    --------
    >>> import hlosim, tempfile, os
    >>> folder = tempfile.mkdtemp()
    >>> @hlosim.gate("v5e", baselines=folder)
    ... def test_step():
    ...     return "HloModule m\\nENTRY e { a = f32[8] parameter(0)  ROOT x = f32[8] add(a, a) }"
    >>> os.environ["HLOSIM_UPDATE"] = "1"
    >>> test_step()                                   # writes the baseline
    >>> del os.environ["HLOSIM_UPDATE"]
    >>> test_step()                                   # holds the module against it
    """
    limits = _limits(metrics, tolerance)

    def decorate(test: Callable) -> Callable:
        @functools.wraps(test)
        def wrapped(*args: Any, **kwargs: Any) -> None:
            __tracebackhide__ = True
            made = test(*args, **kwargs)
            if made is None:
                raise AssertionError("%s returned nothing; a gate needs the module" % test.__name__)
            report = as_report(made, device, dict(options, set=set))
            folder = baselines or run.folder or os.path.join(
                os.path.dirname(os.path.abspath(test.__code__.co_filename)), "hlosim_baselines")
            # What parameters the test has is part of its name.
            own = ",".join(str(one) for one in list(args) + [kwargs[key] for key in sorted(kwargs)]
                           if isinstance(one, (str, int, float, bool)))
            full = name or (test.__name__ + ("[%s]" % own if own else ""))
            Baselines(folder, run.is_updating()).check(full, report, limits)

        return wrapped

    return decorate
