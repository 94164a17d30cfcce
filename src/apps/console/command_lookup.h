// Which command a line asks for. Names may have several words: `hlosim tune prefetch module.hlo`.
//
//   const std::string args[] = {"tune", "prefetch", "a.hlo"};
//   const CommandMatch found = find_command(commands, args);
//   found.command->name                            // "tune prefetch"; found.words == 2
#pragma once

#include <span>
#include <string>
#include <vector>

#include "console/streams.h"

namespace hlosim {

struct CommandMatch {
  const Command* command = nullptr;  // null: none
  size_t words = 0;                  // of the line, that name it
};

/// The command whose name is the most words at the beginning of `args`.
CommandMatch find_command(std::span<const Command> commands, std::span<const std::string> args);

/// Commands of several words that begin with `word`.
std::vector<const Command*> commands_of_group(std::span<const Command> commands, std::string_view word);

}  // namespace hlosim
