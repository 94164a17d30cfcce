#include <memory>
#include <ostream>

#include "cli/commands.h"
#include "cli/run.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/verbosity.h"
#include "hlo/printer.h"
#include "ops/op_table.h"
#include "shrink/shrink.h"

namespace hlosim {
namespace {

struct ShrinkArguments {
  std::string file;
  std::string output = "-";
  ShrinkOptions shrink;
};

int shrink_file(const ShrinkArguments& options, Streams streams) {
  const ModuleInput input = read_module_input(options.file, false, streams);
  if (!input.ok) return kExitInput;
  std::string text;
  for (const Module& module : input.modules) {
    const Result<Shrunk> small = shrink(module, op_table(), options.shrink);
    if (!small) {
      tell(small.error(), streams);
      return kExitInput;
    }
    for (const std::string& warning : small->warnings) warn(warning, streams);
    for (const std::string& text_of_note : small->notes) note(text_of_note, streams);
    if (!text.empty()) text += "\n// -----\n\n";
    text += to_text(small->module, op_table());
  }
  return write_output(options.output, text, streams) ? kExitSuccess : kExitInput;
}

}  // namespace

std::function<int()> declare_shrink(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<ShrinkArguments>();
  line.add_option("FILE", options->file, "HLO text file; - is standard input").required();
  line.add_option("--scale", options->shrink.scale,
                  "Divide each dimension by the largest divisor of N that the program allows")
      .show_default();
  line.add_option("--min-size", options->shrink.min_size, "Minimum size of a dimension").show_default();
  line.add_option("--layers", options->shrink.layers,
                  "Number of layers: iterations of loops over layers and their stacked arrays; 0: unchanged")
      .show_default();
  line.add_option("-o,--output", options->output, "Output file; - is standard output")
      .writes_file(streams.files)
      .show_default();
  return [options, streams] { return shrink_file(*options, streams); };
}

}  // namespace hlosim
