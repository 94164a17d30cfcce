#include "cli/run.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <istream>
#include <ostream>
#include <vector>

#include "base/text.h"
#include "cli/commands.h"

namespace hlosim {
namespace {

constexpr Command kCommands[] = {
    {"check", "Read and verify modules; report what is wrong with them.", declare_check},
    {"print", "Read modules and print them as HLO text.", declare_print},
    {"ops", "List the opcodes and what is known of each.", declare_ops},
};

std::string overview() {
  std::string text = "Usage: hlosim COMMAND [OPTIONS] FILE...\n\nCommands:\n";
  for (const Command& command : kCommands) text += fmt::format("  {:<9} {}\n", command.name, command.summary);
  text += "\n`hlosim COMMAND --help` tells a command's options. `-` is standard input.\n"
          "Exit codes: 0 done, 1 the answer is no (a limit exceeded), 2 wrong input or command line.\n";
  return text;
}

int run_command(const Command& command, std::span<const std::string> args, Streams streams) {
  CLI::App app(std::string(command.summary), fmt::format("hlosim {}", command.name));
  const std::function<int()> action = command.declare(app, streams);
  std::vector<std::string> reversed(args.rbegin(), args.rend());  // the order that CLI11 takes
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::Success& request) {  // --help
    app.exit(request, streams.out, streams.err);
    return kExitSuccess;
  } catch (const CLI::Error& error) {
    streams.err << "hlosim: error: " << error.what() << "\n  hint: `hlosim " << command.name << " --help` lists the options\n";
    return kExitInput;
  }
  return action();
}

}  // namespace

int run(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  if (args.empty()) {
    err << overview();
    return kExitInput;
  }
  if (args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
    out << overview();
    return kExitSuccess;
  }
  if (args[0] == "--version") {
    out << "hlosim " << HLOSIM_VERSION << "\n";
    return kExitSuccess;
  }
  const auto* command = std::find_if(std::begin(kCommands), std::end(kCommands), [&](const Command& c) { return c.name == args[0]; });
  if (command != std::end(kCommands)) return run_command(*command, args.subspan(1), {in, out, err});
  std::vector<std::string_view> names;
  for (const Command& c : kCommands) names.push_back(c.name);
  const std::string hint = did_you_mean(args[0], names);
  err << fmt::format("hlosim: error: no command '{}'\n", shown(args[0]));
  if (!hint.empty()) err << "  hint: " << hint << "\n";
  return kExitInput;
}

}  // namespace hlosim
