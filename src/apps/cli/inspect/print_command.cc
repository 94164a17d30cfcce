#include <fmt/format.h>

#include <memory>
#include <ostream>

#include "base/source.h"
#include "cli/commands.h"
#include "cli/inspect/print_kernel.h"
#include "cli/run.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/verbosity.h"
#include "hlo/printer.h"
#include "input/proto_text.h"
#include "ops/op_table.h"
#include "stablehlo_text/write_stablehlo.h"

namespace hlosim {
namespace {

struct PrintArguments {
  std::string file;
  std::string output = "-";
  std::string format = "text";
  std::string kernel;
  bool parse_only = false;
  bool no_percent = false;
  bool no_metadata = false;
  PrintOptions print;
};

int print(const PrintArguments& options, Streams streams) {
  const ModuleInput input = read_module_input(options.file, options.parse_only, streams);
  if (!input.ok) return kExitInput;
  PrintOptions print_options = options.print;
  print_options.percent = !options.no_percent;
  print_options.metadata = !options.no_metadata;
  std::string text;
  if (!options.kernel.empty()) {
    const Result<std::string> body = kernel_text(input.modules, options.kernel);
    if (body) return write_output(options.output, *body, streams) ? kExitSuccess : kExitInput;
    tell(body.error(), streams);
    return kExitInput;
  }
  if (options.format == "pb") {
    if (input.modules.size() != 1) {
      complain(fmt::format("a proto holds one module, {} has {}", options.file, input.modules.size()), "",
               streams);
      return kExitInput;
    }
    Result<std::string> bytes = proto_of(input.modules[0]);
    if (!bytes) {
      tell(bytes.error(), streams);
      return kExitInput;
    }
    return write_output(options.output, *bytes, streams) ? kExitSuccess : kExitInput;
  }
  for (const Module& module : input.modules) {
    if (!text.empty()) text += "\n// -----\n\n";
    if (options.format == "stablehlo") {
      const Result<std::string> written = to_stablehlo(module);
      if (!written) {
        tell(written.error(), streams);
        return kExitInput;
      }
      text += *written;
      continue;
    }
    text += to_text(module, op_table(), print_options);
  }
  return write_output(options.output, text, streams) ? kExitSuccess : kExitInput;
}

}  // namespace

std::function<int()> declare_print(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<PrintArguments>();
  line.add_option("FILE", options->file, "HLO text file; - is standard input").required();
  line.add_option("-o,--output", options->output, "Output file; - is standard output")
      .writes_file(streams.files)
      .show_default();
  line.add_option("--format", options->format, "text, pb, a binary HloProto, or stablehlo")
      .one_of({"text", "pb", "stablehlo"})
      .show_default();
  line.add_option("--kernel", options->kernel, "Print the Mosaic body of this TPU kernel as MLIR text");
  line.add_flag("--parse-only", options->parse_only, "Do not verify");
  line.add_flag("--operand-shapes", options->print.operand_shapes, "Print the shape before each operand");
  line.add_flag("--no-percent", options->no_percent, "Print names without %");
  line.add_flag("--no-metadata", options->no_metadata, "Omit metadata");
  return [options, streams] { return print(*options, streams); };
}

}  // namespace hlosim
