"""Nothing grows: modules, reports and runs are given back."""
import os

from conftest import ROOT

import hlosim


def resident_kib():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024


def growth(action, times, first):
    """KiB that `times` calls add to what the process holds after `first` calls."""
    for _ in range(first):
        action()
    before = resident_kib()
    for _ in range(times):
        action()
    return resident_kib() - before


def test_a_thousand_loads():
    text = (ROOT / "examples/transformer_block.hlo").read_text()
    assert growth(lambda: hlosim.load(text), 1000, 100) < 4096


def test_reports_and_errors(mlp):
    def action():
        mlp.report("v5e").to_dict()
        try:
            hlosim.load("HloModule m\nENTRY e { ROOT x = f32[] nothing() }")
        except hlosim.Error:
            pass

    assert growth(action, 60, 40) < 4096


def test_runs(adder):
    m = adder(size=20_000)
    assert growth(lambda: m.run(args="iota"), 60, 40) < 4096
