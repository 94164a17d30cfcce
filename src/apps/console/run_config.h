// The configuration of a run as a file: --print-config writes it, --config reads it. Commands that take a
// device have both.
//
//   # hlosim configuration
//   command: report
//   options:
//     FILE: module.hlo        # command line
//     top: 10                 # default
//     # topology: not set
//   ---
//   name: "TPU v5e"           the device, its overrides included: a device file
//   …
//
// What the command line says wins over the file.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "console/streams.h"
#include "model/device.h"

namespace hlosim {

/// All options of a command: its own; --config and --print-config where it has --device; those of every
/// command (console/verbosity.h). The result runs it.
std::function<int()> declare_options(const Command& command, CommandLine& declared, Streams streams);

/// A command line with what the file of its --config adds.
struct ConfiguredLine {
  std::vector<std::string> args;
  std::string file;             // of --config; empty: none
  std::set<std::string> added;  // names of options and positionals that come from it
};

/// Reads the file that --config names, if any. `first` has the command's options declared and is used up.
/// Null, with what is wrong printed: the file is no configuration, one of another command, or has an option
/// that the command hasn't.
std::optional<ConfiguredLine> configured(const Command& command, CommandLine& first,
                                         std::vector<std::string> args, Streams streams);

/// Prints what --print-config asks for. `declared` has parsed `line`. The exit code.
int print_run_config(const Command& command, const CommandLine& declared, const ConfiguredLine& line,
                     Streams streams);

/// The device of a configuration that --print-config wrote, as a device file whose lines are those of the
/// configuration; null when `name` isn't one.
SourcePtr device_of_run_config(const std::string& name, Streams streams);

}  // namespace hlosim
