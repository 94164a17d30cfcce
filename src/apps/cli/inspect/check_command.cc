#include <fmt/format.h>

#include <memory>
#include <ostream>

#include "cli/commands.h"
#include "cli/run.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/verbosity.h"

namespace hlosim {
namespace {

struct CheckArguments {
  std::vector<std::string> files;
  bool parse_only = false;
};

int check(const CheckArguments& options, Streams streams) {
  size_t bad = 0, modules = 0, instructions = 0;
  for (const std::string& file : options.files) {
    const ModuleInput input = read_module_input(file, options.parse_only, streams);
    bad += !input.ok;
    modules += input.modules.size();
    for (const Module& module : input.modules) instructions += module.instructions.size();
  }
  if (!streams.verbosity.quiet)
    streams.out << fmt::format("{} of {} files are right: {} modules, {} instructions\n",
                               options.files.size() - bad, options.files.size(), modules, instructions);
  return bad == 0 ? kExitSuccess : kExitInput;
}

}  // namespace

std::function<int()> declare_check(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<CheckArguments>();
  line.add_option("FILE", options->files, "HLO text files; - is standard input").required();
  line.add_flag("--parse-only", options->parse_only, "Check the syntax alone");
  return [options, streams] { return check(*options, streams); };
}

}  // namespace hlosim
