"""What an XSpace of a TPU looks like: planes, lines, statistics and their types, as the profiler writes them.

check(planes, real) holds a file against it; of a predicted run nothing may be missing or more, a real one
may have what nobody predicts. check_values() holds predicted statistics against those of a real profile.
"""
TIMES = {"device_offset_ps": "unsigned", "device_duration_ps": "unsigned"}
# Where the compiler writes it into the module, operations have it.
FROM_METADATA = {"deduplicated_name", "source", "source_stack", "tf_op"}
KIND = {"hlo_category": "text", "program_id": "unsigned", "symbol_id": "unsigned", "deduplicated_name": "text",
        "flops": "signed", "model_flops": "signed", "bytes_accessed": "signed", "memory_access_breakdown": "bytes",
        "source": "text", "source_stack": "text", "raw_bytes_accessed": "signed", "shape_with_layout": "text",
        "tf_op": "text"}
LINES = {  # number, statistics of events, statistics of their kinds
    "Steps": (1, dict(TIMES, group_id="signed"), {}),
    "XLA Modules": (2, {"run_id": "unsigned", "replica_id": "signed", "queue_id": "unsigned",
                        "core_type": "unsigned"}, {}),
    "XLA Ops": (3, TIMES, KIND),
    "Async XLA Ops": (4, {"hlo_op": "text", "_a": "signed", "flow": "unsigned", "id": "unsigned"}, KIND),
    "Overlay": (7, {}, {}),
    "XLA TraceMe": (6, {}, {}),
}
DEVICE = {"core_details": "bytes", "device_type_string": "text", "peak_teraflops_per_second": "double",
          "peak_hbm_bw_gigabytes_per_second": "double", "peak_cmem_rd_bw_gigabytes_per_second": "double",
          "peak_cmem_wr_bw_gigabytes_per_second": "double", "peak_vmem_rd_bw_gigabytes_per_second": "double",
          "peak_vmem_wr_bw_gigabytes_per_second": "double", "peak_sram_rd_bw_gigabytes_per_second": "double",
          "peak_sram_wr_bw_gigabytes_per_second": "double", "has_megacore": "signed", "has_merged_vmem": "signed"}
PLANES = {  # in their order: statistics
    "/device:TPU:0": DEVICE,
    "/host:metadata": {},
    "/host:CPU": {"matrix_unit_utilization_percent": "double"},
    "Task Environment": {"profile_start_time": "unsigned", "profile_stop_time": "unsigned"},
}
# Of the host's threads that launched something, of ids that the runtime gives, and of several slices.
NOT_PREDICTED = {"_c": "signed", "_ct": "signed", "all_reduce_unique_id": "unsigned",
                 "dcn_collective_info": "bytes"}


def types(statistics):
    return {name: value[0] for name, value in statistics.items()}


def check_statistics(found, expected, where, real, optional=()):
    if real:
        found = {name: kind for name, kind in found.items() if name not in NOT_PREDICTED}
    assert found.items() <= expected.items(), (where, set(found.items()) - set(expected.items()))
    missing = set(expected) - set(found) - set(optional)
    assert not missing, (where, missing)


def check(planes, real=False):
    names = [name for name in planes if name in PLANES]
    assert names == list(PLANES), names
    assert real or len(planes) == len(PLANES), list(planes)
    for name, expected in PLANES.items():
        assert list(types(planes[name].statistics).items()) == list(expected.items()), name
    device = planes["/device:TPU:0"]
    lines = [name for name in LINES if name != "Steps"] if real else list(LINES)  # jitted functions have no steps
    assert list(device.lines) == lines, list(device.lines)
    for name in lines:
        number, of_events, of_kinds = LINES[name]
        assert device.lines[name][0] == number, name
        for kind, _, _, statistics in device.lines[name][1]:
            check_statistics(types(statistics), of_events, name, real)
            check_statistics(types(device.metadata[kind][2]), of_kinds, (name, device.metadata[kind][0]), real,
                             FROM_METADATA)
    for _, (name, _, statistics) in planes["/host:metadata"].metadata.items():
        assert types(statistics) == {"Hlo Proto": "bytes"} or real, (name, statistics)


def operations(plane, line, program):
    """{text: (display name, statistics)} of the operations of a program."""
    return {plane.metadata[kind][0]: plane.metadata[kind][1:] for kind, *_ in plane.lines[line][1]
            if plane.metadata[kind][2]["program_id"][1] == program}


def check_values(made, real, program):
    """Operations of the module `program` of a real profile that was simulated: the number of equal statistics."""
    equal = 0
    own_program = next(iter(made["/host:metadata"].metadata))
    for line in ("XLA Ops", "Async XLA Ops"):
        theirs = operations(real["/device:TPU:0"], line, program)
        ours = operations(made["/device:TPU:0"], line, own_program)
        for text, (name, statistics) in theirs.items():
            assert text in ours, (line, text, list(ours))
            assert ours[text][0] == name, text
            for key, value in statistics.items():
                # Numbers of the runtime; and names before the compiler made them different, which it keeps to itself.
                if key in {"program_id", "symbol_id", "deduplicated_name", *NOT_PREDICTED}:
                    continue
                assert ours[text][1][key] == value, (text, key, value, ours[text][1][key])
                equal += 1
    return equal
