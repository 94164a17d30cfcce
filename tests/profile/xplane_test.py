#!/usr/bin/env python3
"""Predicted runs as XSpace, decoded without any schema: usage xplane_test.py HLOSIM SOURCES

Every operation's time in the file is the report's to the picosecond; planes, lines, statistics and their types are those
of real profiles (xplane_structure.py), and where one lies beside the sources its operations have the values that we
predict; Python's protobuf, where it is installed, and `hlosim profile` read the same back.
"""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # beside the sources
import xplane_structure

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ImportError:
    descriptor_pb2 = None

HLOSIM, SOURCES = sys.argv[1], pathlib.Path(sys.argv[2])
SHARED = pathlib.Path(os.environ.get("HLOSIM_SHARED_DIR", SOURCES.parent / "shared"))
REAL = SHARED / "measured/profiles/raw/v6e_offload_loop.xplane.pb"
XPLANE = "plugins/profile/predicted/hlosim.xplane.pb"
MODULES = ["tests/samples/tpu_block.hlo", "tests/samples/pipeline_loop.hlo", "tests/samples/adam_step.hlo",
           "tests/samples/host_memory.hlo", "tests/samples/partitions_step.hlo"]
VALUE_TYPES = {2: "double", 3: "unsigned", 4: "signed", 5: "text", 6: "bytes", 7: "reference"}


def run(*arguments):
    done = subprocess.run([HLOSIM, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, (arguments, done.returncode, done.stderr[-2000:])
    return done.stdout


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, value) of each field: whole numbers, or bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        else:
            assert kind in (1, 2), f"wire type {kind}"
            size = 8
            if kind == 2:
                size, at = varint(data, at)
            value = data[at:at + size]
            assert len(value) == size
            at += size
        yield tag >> 3, value


def one(data, number, default=None):
    return next((value for field, value in fields(data) if field == number), default)


def every(data, number):
    return [value for field, value in fields(data) if field == number]


def statistics(data, number, names):
    """{name: (type, value)} of the statistics that are field `number`."""
    found = {}
    for stat in every(data, number):
        parts = dict(fields(stat))
        name = names[parts[1]]
        kind = next((field for field in VALUE_TYPES if field in parts), None)
        value = parts.get(kind)
        if kind == 2:
            value = struct.unpack("<d", value)[0]
        if kind == 5:
            value = value.decode()
        found[name] = (VALUE_TYPES.get(kind, "nothing"), value)
    return found


def entries(data, number):
    return {one(entry, 1, 0): one(entry, 2, b"") for entry in every(data, number)}


class Plane:
    def __init__(self, data):
        self.name = one(data, 2, b"").decode()
        names = {key: one(value, 2, b"").decode() for key, value in entries(data, 5).items()}
        self.statistics = statistics(data, 6, names)
        self.metadata = {key: (one(value, 2, b"").decode(errors="replace"), one(value, 4, b"").decode(), statistics(value, 5, names))
                         for key, value in entries(data, 4).items()}
        self.lines = {}
        for line in every(data, 3):
            events = [(one(event, 1, 0), one(event, 2, 0), one(event, 3, 0), statistics(event, 4, names))
                      for event in every(line, 4)]
            self.lines[one(line, 2, b"").decode()] = (one(line, 1, 0), events)


def planes(path):
    return {plane.name: plane for plane in map(Plane, every(path.read_bytes(), 1))}


def self_times(plane):
    """By operation: the sum of its events without what lies inside of them."""
    _, events = plane.lines["XLA Ops"]
    events = sorted(events, key=lambda event: (event[1], -event[2]))
    times, open_events = {}, []
    for kind, start, duration, _ in events:
        while open_events and open_events[-1][1] <= start:
            open_events.pop()
        name = plane.metadata[kind][1]
        times[name] = times.get(name, 0) + duration
        if open_events:
            assert start + duration <= open_events[-1][1], "events of one line nest"
            times[open_events[-1][0]] -= duration
        if duration > 0:
            open_events.append((name, start + duration))
    return times


def check_times(plane, report):
    total = report["time"]["total_ps"]
    _, modules = plane.lines["XLA Modules"]
    assert [event[2] for event in modules] == [total], (modules, total)
    _, steps = plane.lines["Steps"]
    assert [event[2] for event in steps] == [total]
    times = self_times(plane)
    for row in report["instructions"]:
        if row["executions"] > 0 and row["time_ps"] > 0:
            assert times.pop(row["name"]) == row["self_time_ps"], row["name"]
    assert all(time == 0 for time in times.values()), times
    for line in ("XLA Ops", "Steps"):
        for _, start, duration, stats in plane.lines[line][1]:
            assert stats["device_offset_ps"] == ("unsigned", start), stats
            assert stats["device_duration_ps"] == ("unsigned", duration), stats
    starts = {plane.metadata[kind][1]: start for kind, start, _, _ in plane.lines["XLA Ops"][1]}
    for kind, start, duration, stats in plane.lines["Async XLA Ops"][1]:
        name = plane.metadata[kind][0].split(" = ")[0][1:]
        assert name in starts and stats["hlo_op"][1] in starts, (name, stats)
        assert stats["_a"] == ("signed", 1) and duration >= 0 and start >= 0


def check_modules(made, report):
    plane = made["/host:metadata"]
    (key, (name, _, stats)), = plane.metadata.items()
    program = int(name[name.rindex("(") + 1:-1])
    assert key == program, (key, program)
    kind, proto = stats["Hlo Proto"]
    assert kind == "bytes" and one(one(proto, 1), 1).decode() == name[:name.rindex("(")], name
    device = made["/device:TPU:0"]
    for kind, *_ in device.lines["XLA Ops"][1]:
        assert device.metadata[kind][2]["program_id"] == ("unsigned", program)


def check_host(made, report):
    (_, share), = made["/host:CPU"].statistics.values()
    expected = 100 * (report["work"]["flops_utilisation"] or 0)
    assert abs(share - expected) < 1e-9 * max(expected, 1), (share, expected)


def messages(path):
    """{kind of message: field numbers that occur in it}."""
    inner = {"space": {1: "plane"}, "plane": {3: "line", 4: "kind entry", 5: "statistic entry", 6: "statistic"},
             "line": {4: "event"}, "event": {4: "statistic"}, "kind entry": {2: "kind"}, "kind": {5: "statistic"},
             "statistic entry": {2: "statistic kind"}}
    found = {}

    def walk(name, data):
        for number, value in fields(data):
            found.setdefault(name, set()).add(number)
            if number in inner.get(name, {}):
                walk(inner[name][number], value)

    walk("space", path.read_bytes())
    return found


def check_real(real):
    """The module that ran on the machine, simulated: the same operations with the same statistics."""
    found = messages(REAL)
    xplane_structure.check(real, real=True)
    equal = 0
    for key, (name, _, statistics) in real["/host:metadata"].metadata.items():
        if "Hlo Proto" not in statistics or not name.startswith(("jit_f(", "jit__psum(")):
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "module.hlo.pb"
            path.write_bytes(statistics["Hlo Proto"][1])
            run("trace", path, "--device=v6e", "--topology=2x4", "--format=xplane", "-o", folder)
            path = pathlib.Path(folder) / XPLANE
            made = planes(path)
            xplane_structure.check(made)
            for message, numbers in messages(path).items():
                assert numbers <= found[message], (message, numbers - found[message])
            equal += xplane_structure.check_values(made, real, int(name[name.rindex("(") + 1:-1]))
    assert equal > 150, equal
    return equal


def space_of_protobuf():
    """XSpace as far as times go, for the decoder of Python's protobuf."""
    file = descriptor_pb2.FileDescriptorProto(name="xspace_of_test.proto", package="t", syntax="proto3")
    whole, text, message = (descriptor_pb2.FieldDescriptorProto.TYPE_INT64, descriptor_pb2.FieldDescriptorProto.TYPE_BYTES,
                            descriptor_pb2.FieldDescriptorProto.TYPE_MESSAGE)
    for name, parts in {"Kind": [("id", 1, whole), ("name", 2, text), ("display_name", 4, text)],
                        "Entry": [("key", 1, whole), ("value", 2, "Kind")],
                        "Event": [("kind", 1, whole), ("offset_ps", 2, whole), ("duration_ps", 3, whole)],
                        "Line": [("id", 1, whole), ("name", 2, text), ("events", 4, "Event")],
                        "Plane": [("name", 2, text), ("lines", 3, "Line"), ("kinds", 4, "Entry")],
                        "Space": [("planes", 1, "Plane")]}.items():
        made = file.message_type.add(name=name)
        for field, number, kind in parts:
            inner = isinstance(kind, str)
            made.field.add(name=field, number=number, type=message if inner else kind, type_name="t." + kind if inner else None,
                           label=3 if inner and field != "value" else 1)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    space = pool.FindMessageTypeByName("t.Space")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(space)()
    return message_factory.MessageFactory(pool).GetPrototype(space)()


def check_with_protobuf(path, made):
    """Another decoder than ours reads the same names and times."""
    if descriptor_pb2 is None:
        return
    space = space_of_protobuf()
    space.ParseFromString(path.read_bytes())
    for plane in space.planes:
        kinds = {one.key: one.value for one in plane.kinds}
        ours = made[plane.name.decode()]
        assert [line.name.decode() for line in plane.lines] == list(ours.lines)
        for line in plane.lines:
            number, events = ours.lines[line.name.decode()]
            assert line.id == number
            assert [(kinds[event.kind].name.decode(), event.offset_ps, event.duration_ps) for event in line.events] == [
                (ours.metadata[kind][0], start, duration) for kind, start, duration, _ in events]


def check_read_back(folder):
    comparison = json.loads(run("profile", folder, "--format=json"))
    program, = comparison["programs"]
    assert program["not_simulated"] is None, program["not_simulated"]
    assert program["time_ps"] == program["simulated_ps"]
    for row in program["operations"]:
        assert row["measured"] and row["simulated"], row
        assert row["ratio"] in (None, 1), row
        assert row["off_ps"] == 0, row


def main():
    if descriptor_pb2 is None:
        print("no protobuf of Python here: the files are decoded without it alone")
    if not REAL.exists():
        print("no real profile beside the sources: structure is compared with what we know of one alone")
    for module in MODULES:
        with tempfile.TemporaryDirectory() as folder:
            run("trace", SOURCES / module, "--device=v6e", "--format=xplane", "-o", folder)
            report = json.loads(run("report", SOURCES / module, "--device=v6e", "--format=json"))
            made = planes(pathlib.Path(folder) / XPLANE)
            check_times(made["/device:TPU:0"], report)
            check_modules(made, report)
            check_host(made, report)
            xplane_structure.check(made)
            check_with_protobuf(pathlib.Path(folder) / XPLANE, made)
            check_read_back(folder)
    if REAL.exists():
        print(f"{check_real(planes(REAL))} statistics are those of a real profile")
    print(f"{len(MODULES)} runs are right")


main()
