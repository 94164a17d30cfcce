"""hlosim.Layout and hlosim.Device."""
import itertools
import json
import subprocess

import pytest

import hlosim


@pytest.mark.parametrize("text", ["bf16[16,256]{1,0:T(8,128)(2,1)}", "f32[10,200]{1,0:T(8,128)}", "f32[3,5]{0,1}", "s32[7]{0:T(256)}", "f32[]"])
def test_offsets_are_all_different_and_come_back(text):
    layout = hlosim.Layout(text)
    indices = list(itertools.product(*map(range, layout.shape)))
    offsets = [layout.offset(*index) for index in indices]
    assert len(set(offsets)) == len(indices) and 0 <= min(offsets) and max(offsets) < layout.extent
    assert [layout.index(offset) for offset in offsets] == indices
    padding = [slot for slot in range(layout.extent) if layout.index(slot) is None]
    assert len(padding) == layout.extent - len(indices)


def test_is_the_commands(program):
    text = "f32[10,200]{1,0:T(8,128)}"
    done = subprocess.run([program, "layout", text, "--index=9,130", "--format=json"], capture_output=True, text=True)
    said = json.loads(done.stdout)
    layout = hlosim.Layout(text)
    assert layout.offset(9, 130) == said["of_index"]["offset_elements"]
    assert layout.padded_bytes == said["padded_bytes"] and layout.unpadded_bytes == said["unpadded_bytes"]
    assert list(layout.tiled_dimensions) == said["tiled_dimensions"] and layout.expansion == said["expansion"]
    assert (layout.type, layout.element_bits, str(layout)) == ("f32", 32, text)


def test_keys_are_texts():
    with pytest.raises(TypeError, match="a key is a text"):
        hlosim.Device("v5e")[3]


def test_wrong_indices_and_layouts():
    layout = hlosim.Layout("f32[2,3]")
    for index in ((2, 0), (-1, 0), (0,), (0, 0, 0)):
        with pytest.raises(IndexError):
            layout.offset(*index)
    with pytest.raises(IndexError):
        layout.index(6)
    with pytest.raises(TypeError):
        layout.offset(0.5, 0)
    for text in ("f32[2,3", "nonsense", "f32[2]{1}", "(f32[2])", "f32[?]"):
        with pytest.raises(hlosim.Error):
            hlosim.Layout(text)


def test_devices():
    assert {"v4", "v5e", "v5p", "v6e"} <= set(hlosim.devices())
    device = hlosim.Device("v5e", set={"clock": "1 GHz"})
    plain = hlosim.Device("v5e")
    assert device["clock"] == "1 GHz" and plain["clock"] == "1.5 GHz"
    assert device != plain and plain == hlosim.Device("v5e") and hlosim.Device(device) == device
    assert "override" in device.sources["clock"] and plain.sources["mxu.count"].startswith("published")
    assert repr(device) == "hlosim.Device('v5e', set={'clock': '1 GHz'})"


def test_a_device_of_ones_own(tmp_path, mlp):
    path = tmp_path / "mine.yaml"
    path.write_text(hlosim.Device("v5e", set={"mxu.count": 2}).to_yaml())
    assert mlp.report(path).time_ps == mlp.report("v5e", set={"mxu.count": 2}).time_ps


def test_wrong_devices():
    with pytest.raises(hlosim.Error, match="v5x"):
        hlosim.Device("v5x")
    with pytest.raises(hlosim.Error, match="clok"):
        hlosim.Device("v5e", set={"clok": "1 GHz"})
