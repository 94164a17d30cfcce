#include "console/command_lookup.h"

namespace hlosim {
namespace {

// Words at the beginning of `args` that are `name`; 0: they are something else.
size_t matched_words(std::string_view name, std::span<const std::string> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    const size_t blank = name.find(' ');
    if (name.substr(0, blank) != args[i]) return 0;
    if (blank == std::string_view::npos) return i + 1;
    name.remove_prefix(blank + 1);
  }
  return 0;
}

}  // namespace

CommandMatch find_command(std::span<const Command> commands, std::span<const std::string> args) {
  CommandMatch best;
  for (const Command& command : commands)
    if (const size_t words = matched_words(command.name, args); words > best.words) best = {&command, words};
  return best;
}

std::vector<const Command*> commands_of_group(std::span<const Command> commands, std::string_view word) {
  std::vector<const Command*> result;
  for (const Command& command : commands)
    if (command.name.size() > word.size() && command.name.substr(0, word.size()) == word &&
        command.name[word.size()] == ' ')
      result.push_back(&command);
  return result;
}

}  // namespace hlosim
