// What the program says about itself beyond `--help`: a man page and completions for shells. Both are made of
// the options that the commands declare, so that they can't fall behind.
//
//   const std::vector<CommandEntry> commands = describe_commands(table, streams);
//   const std::optional<std::string> script = completion_script("bash", commands);
//   streams.out << man_page(commands, version);
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"

namespace hlosim {

struct OptionEntry {
  std::vector<std::string> long_names, short_names;  // without dashes
  std::string description;
  std::string default_value;        // empty: none
  std::vector<std::string> values;  // that it may take; empty: any
  bool takes_value = false;
  bool is_file = false;  // its value, or the positional argument, names a file
};

struct CommandEntry {
  std::string name, summary;
  std::vector<OptionEntry> options;
  std::vector<std::string> positionals;  // "FILE…"
};

/// Every command with its options, as it declares them.
std::vector<CommandEntry> describe_commands(std::span<const Command> commands, Streams streams);

/// Lines to try, "hlosim …"; empty when the command has none.
std::span<const std::string_view> examples_of(std::string_view command);

/// A script that completes commands, options and their values; nothing for a shell other than bash, zsh and
/// fish.
std::optional<std::string> completion_script(std::string_view shell,
                                             const std::vector<CommandEntry>& commands);

/// hlosim(1) in the language of man.
std::string man_page(const std::vector<CommandEntry>& commands, std::string_view version);

}  // namespace hlosim
