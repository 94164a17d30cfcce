#!/usr/bin/env python3
"""Predicted runs as XSpace, decoded without any schema: usage xplane_test.py HLOSIM SOURCES

Every operation's time in the file is the report's to the picosecond; planes, lines, statistics and their types are those
of a real profile, where one lies beside the sources; `hlosim profile` reads the same back.
"""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

HLOSIM, SOURCES = sys.argv[1], pathlib.Path(sys.argv[2])
SHARED = pathlib.Path(os.environ.get("HLOSIM_SHARED_DIR", SOURCES.parent / "shared"))
REAL = SHARED / "measured/profiles/raw/v6e_offload_loop.xplane.pb"
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


def check_structure(made, real):
    """Every statistic that we write is one of the real file's, of the same type, at the same kind of thing."""
    ours, theirs = made["/device:TPU:0"], real["/device:TPU:0"]
    assert set(made) <= set(real), set(made) - set(real)
    assert list(ours.statistics) == list(theirs.statistics)
    for name, (kind, _) in ours.statistics.items():
        assert kind == theirs.statistics[name][0], name
    for line in ("XLA Modules", "XLA Ops", "Async XLA Ops"):
        number, events = theirs.lines[line]
        assert ours.lines[line][0] == number, line
        known = {name: value[0] for event in events for name, value in event[3].items()}
        of_kinds = {name: value[0] for event in events for name, value in theirs.metadata[event[0]][2].items()}
        optional = {"_c", "_ct", "all_reduce_unique_id", "source_stack", "deduplicated_name", "dcn_collective_info"}
        for event in ours.lines[line][1]:
            ours_known = {name: value[0] for name, value in event[3].items()}
            assert ours_known.items() <= known.items(), (line, ours_known, known)
            assert set(known) - optional <= set(ours_known), (line, set(known) - set(ours_known))
            kind = {name: value[0] for name, value in ours.metadata[event[0]][2].items()}
            assert kind.items() <= of_kinds.items(), (line, kind, of_kinds)
            assert set(of_kinds) - optional - {"source", "tf_op"} <= set(kind), (line, set(of_kinds) - set(kind))


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
    real = planes(REAL) if REAL.exists() else None
    if real is None:
        print("no real profile beside the sources: structure is not compared with one")
    for module in MODULES:
        with tempfile.TemporaryDirectory() as folder:
            run("trace", SOURCES / module, "--device=v6e", "--format=xplane", "-o", folder)
            report = json.loads(run("report", SOURCES / module, "--device=v6e", "--format=json"))
            made = planes(pathlib.Path(folder) / "plugins/profile/predicted/hlosim.xplane.pb")
            check_times(made["/device:TPU:0"], report)
            check_modules(made, report)
            if real:
                check_structure(made, real)
            check_read_back(folder)
    print(f"{len(MODULES)} runs are right")


main()
