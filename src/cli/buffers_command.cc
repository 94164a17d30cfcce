#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>

#include "cli/commands.h"
#include "cli/input.h"
#include "cli/run.h"
#include "memory/dump_of.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {
struct Options {
  std::vector<std::string> files;
  std::string format = "xla";
  int64_t alignment = 64;
};

int buffers(const Options& options, Streams streams) {
  for (const std::string& file : options.files) {
    ModuleInput input = read_module_input(file, false, streams);
    if (!input.ok) return kExitInput;
    for (Module& module : input.modules) {
      BufferOptions o;
      o.alignment = options.alignment;
      o.era = options.format == "xla" ? Era::k2026 : Era::k2022;
      auto analysis = analyse_buffers(module, op_table(), o);
      if (!analysis) { streams.err << render(analysis.error()); return kExitInput; }
      streams.out << to_text(dump_of(**analysis, op_table(), o.era));
    }
  }
  return kExitSuccess;
}
}  // namespace

std::function<int()> declare_buffers(CLI::App& app, Streams streams) {
  const auto options = std::make_shared<Options>();
  app.add_option("FILE", options->files, "HLO text files; - is standard input")->required();
  app.add_option("--format", options->format, "");
  app.add_option("--alignment", options->alignment, "");
  return [options, streams] { return buffers(*options, streams); };
}
}  // namespace hlosim
