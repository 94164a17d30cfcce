#include "console/limit_options.h"

#include <fmt/format.h>

#include "base/number_text.h"
#include "base/quantity_text.h"
#include "base/text.h"
#include "console/command_line.h"
#include "console/verbosity.h"
#include "stablehlo/dimension_sizes.h"

namespace hlosim {
namespace {

std::string seconds_problem(const std::string& text) {
  constexpr double kMost = 1e9;
  if (is_number_beyond(text, kMost))
    return fmt::format("'{}' is out of range: expected a number above 0, up to {:g}", shown(text), kMost);
  const Result<double> number = TextForm<double>::read(text);
  return number && *number > 0 ? "" : fmt::format("'{}' is not a number above 0", shown(text));
}

}  // namespace

void declare_limits(CommandLine& line, Limits& limits) {
  line.add_option("--max-rank", limits.rank, "Maximum rank of an array")
      .from(0)
      .show_default()
      .group("Limits");
  line.add_option("--max-devices", limits.devices, "Maximum number of devices of a program")
      .from(1)
      .show_default()
      .group("Limits");
  line.add_option("--max-seconds", limits.seconds, "Time limit; the error names the running step")
      .check(seconds_problem)
      .group("Limits");
  line.add_option("--max-memory",
                  "Memory limit of the process: bytes, or 8GiB. run refuses modules whose arrays need more "
                  "[run: 80 % of the "
                  "machine's memory]")
      .group("Limits");
  line.add_flag("--partial",
                "Accept truncated HLO text (from logs or profiles); missing operands become parameters, "
                "missing computations "
                "custom calls; all are reported")
      .group("Program");
  line.add_option("--dim",
                  "Sizes of dynamic dimensions of arguments, in order: 8,128 or batch=8; arg0.1=8 sets "
                  "dimension 1 of argument 0; "
                  "a single size holds for all")
      .group("StableHLO");
}

bool read_dimensions(const CommandLine& line, Streams streams) {
  const std::optional<Option> given = line.find("--dim");
  if (!given) return true;
  for (const std::string& text : given->values()) {
    Result<std::vector<stablehlo::DimensionSize>> sizes = stablehlo::parse_dimensions(text);
    if (!sizes) {
      complain("--dim: " + sizes.error().message, sizes.error().hint, streams);
      return false;
    }
    streams.mlir.dimensions.insert(streams.mlir.dimensions.end(), sizes->begin(), sizes->end());
  }
  return true;
}

bool read_limits(const CommandLine& line, Streams streams) {
  const std::optional<Option> memory = line.find("--max-memory");
  if (!memory || memory->count() == 0) return true;
  const std::string text = memory->values().back();
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  const Result<Bytes> bytes = TextForm<Bytes>::read(text + (digits ? "B" : ""));
  if (!bytes) {
    complain(fmt::format("--max-memory: {}", bytes.error().message), bytes.error().hint, streams);
    return false;
  }
  streams.limits.memory = bytes->count();
  return true;
}

}  // namespace hlosim
