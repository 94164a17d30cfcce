// The commands of the program, one file each.
//
//   std::function<int()> declare_check(CommandLine& line, Streams streams) {
//     line.add_option("FILE", options->files, "HLO text files");
//     return [options, streams] { return check(*options, streams); };        // the exit code
#pragma once

#include <functional>
#include <span>

#include "console/streams.h"

namespace hlosim {

/// All of them, in the order of help.
std::span<const Command> commands();

std::function<int()> declare_report(CommandLine& line, Streams streams);
std::function<int()> declare_trace(CommandLine& line, Streams streams);
std::function<int()> declare_graph(CommandLine& line, Streams streams);
std::function<int()> declare_check(CommandLine& line, Streams streams);
std::function<int()> declare_run(CommandLine& line, Streams streams);
std::function<int()> declare_cost(CommandLine& line, Streams streams);
std::function<int()> declare_print(CommandLine& line, Streams streams);
std::function<int()> declare_ops(CommandLine& line, Streams streams);
std::function<int()> declare_layout(CommandLine& line, Streams streams);
std::function<int()> declare_explain(CommandLine& line, Streams streams);
std::function<int()> declare_kernel(CommandLine& line, Streams streams);
std::function<int()> declare_systolic(CommandLine& line, Streams streams);
std::function<int()> declare_devices(CommandLine& line, Streams streams);
std::function<int()> declare_buffers(CommandLine& line, Streams streams);
std::function<int()> declare_accuracy(CommandLine& line, Streams streams);
std::function<int()> declare_partition(CommandLine& line, Streams streams);
std::function<int()> declare_calibrate(CommandLine& line, Streams streams);
std::function<int()> declare_profile(CommandLine& line, Streams streams);
std::function<int()> declare_shrink(CommandLine& line, Streams streams);
std::function<int()> declare_model(CommandLine& line, Streams streams);
std::function<int()> declare_scale(CommandLine& line, Streams streams);
std::function<int()> declare_serving(CommandLine& line, Streams streams);
std::function<int()> declare_lower(CommandLine& line, Streams streams);
std::function<int()> declare_advise(CommandLine& line, Streams streams);
std::function<int()> declare_tune_prefetch(CommandLine& line, Streams streams);
std::function<int()> declare_tune_schedule(CommandLine& line, Streams streams);
std::function<int()> declare_tune_mesh(CommandLine& line, Streams streams);
std::function<int()> declare_tune_serving(CommandLine& line, Streams streams);
std::function<int()> declare_sweep(CommandLine& line, Streams streams);
std::function<int()> declare_tune_layout(CommandLine& line, Streams streams);

}  // namespace hlosim
