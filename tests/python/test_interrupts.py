"""Long work hears that it should end. Work that doesn't would go on to its end, and give an answer in place of an error."""
import signal
import threading

import pytest
from conftest import ROOT

import hlosim

#: Each of them is one more simulation: which settings have an effect?
KEYS = ["clock", "mxu.count", "memory.hbm.bandwidth", "memory.vmem.capacity", "dma.bandwidth", "ici.bandwidth"]


def chain(length):
    """A plain module of so many instructions that lowering and simulating take a while."""
    lines = ["  x0 = f32[256,256] parameter(0)"]
    for i in range(1, length):
        operation = "dot(x%d, x%d), lhs_contracting_dims={1}, rhs_contracting_dims={0}" % (i - 1, i // 2) \
            if i % 3 == 0 else "add(x%d, x%d)" % (i - 1, i // 3)
        lines.append("  %sx%d = f32[256,256] %s" % ("ROOT " if i == length - 1 else "", i, operation))
    return hlosim.load("HloModule chain\nENTRY e {\n" + "\n".join(lines) + "\n}\n")


@pytest.fixture(scope="module")
def long_module():
    return chain(100_000)


def changed(m):
    """Values of `KEYS` other than the device's."""
    device = hlosim.Device("v5e")
    values = {}
    for key in KEYS:
        number, _, unit = str(device[key]).partition(" ")
        values[key] = ("%d %s" % (2 * int(float(number)), unit)).strip()
    return values


# The watch looks every 20 ms; each of these takes many times as long.
@pytest.mark.parametrize("what", [
    lambda m: m.report("v5e", set=changed(m), max_seconds=0.02),
    lambda m: m.lower("v5e", max_seconds=0.02),
    lambda m: m.tune_schedule("v5e", max_seconds=0.02),
    lambda m: m.tune_prefetch("v5e", budget="1000s", max_seconds=0.02),
], ids=["report", "lower", "tune_schedule", "tune_prefetch"])
def test_ends_after_the_time_given(long_module, what):
    with pytest.raises(hlosim.Error, match="not done after 0.*s"):
        what(long_module)


def test_interrupted_tuning():
    """Of a search that has minutes: Ctrl-C ends it."""
    m = hlosim.load(ROOT / "examples/transformer_block.hlo")

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            m.tune_prefetch("v5e", budget="10000s", moves=10**12)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_interrupted_report(long_module):
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            long_module.report("v5e", set=changed(long_module))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert chain(10).report("v5e").time_ps > 0


def test_two_reports_at_once(mlp):
    expected = [mlp.report(device).to_json() for device in ("v5e", "v6e")]
    found = [[], []]

    def work(i, device):
        for _ in range(5):
            found[i].append(mlp.report(device).to_json())

    threads = [threading.Thread(target=work, args=one) for one in enumerate(("v5e", "v6e"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(set(found[i]) == {expected[i]} and len(found[i]) == 5 for i in range(2))
