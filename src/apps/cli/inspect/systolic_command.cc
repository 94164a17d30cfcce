#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <optional>
#include <ostream>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/run.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/verbosity.h"
#include "systolic/systolic.h"
#include "text/json.h"

namespace hlosim {
namespace {

struct SystolicArguments {
  std::string dataflow = "ws";
  std::string array = "128x128";
  std::vector<std::string> sizes;
  std::string format = "text";
  std::string output = "-";
};

Result<int64_t> positive(std::string_view text, std::string_view what) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range && end == text.data() + text.size())
    return failure(fmt::format("{} is out of range: {}", what, shown(text)), "at most 9223372036854775807");
  if (error != std::errc() || end != text.data() + text.size())
    return failure(fmt::format("{} is not a whole number: '{}'", what, shown(text)));
  if (value <= 0) return failure(fmt::format("{} is {}, but has to be at least 1", what, value));
  return value;
}

Result<SystolicArray> read_array(const std::string& text) {
  const size_t by = text.find('x');
  if (by == std::string::npos)
    return failure(fmt::format("--array: '{}' is not a size of an array", shown(text)),
                   "rows and columns, as in 128x128");
  const std::string_view all = text;
  const Result<int64_t> rows = positive(all.substr(0, by), "--array: the number of rows");
  if (!rows) return tl::unexpected(rows.error());
  const Result<int64_t> columns = positive(all.substr(by + 1), "--array: the number of columns");
  if (!columns) return tl::unexpected(columns.error());
  return SystolicArray{*rows, *columns};
}

Result<GemmSize> read_sizes(const std::vector<std::string>& texts) {
  if (texts.size() != 3)
    return failure(fmt::format("{} sizes given, but a product has three: M N K", texts.size()),
                   "hlosim systolic 1024 1024 1024");
  GemmSize gemm;
  int64_t* const into[] = {&gemm.m, &gemm.n, &gemm.k};
  constexpr std::string_view kNames[] = {"M", "N", "K"};
  for (size_t i = 0; i < 3; ++i) {
    const Result<int64_t> value = positive(texts[i], kNames[i]);
    if (!value) return tl::unexpected(value.error());
    *into[i] = *value;
  }
  return gemm;
}

SystolicDataflow read_dataflow(const std::string& text) {
  return text == "os"   ? SystolicDataflow::kOutputStationary
         : text == "is" ? SystolicDataflow::kInputStationary
                        : SystolicDataflow::kWeightStationary;
}

std::string run_json(SystolicDataflow dataflow, SystolicArray array, GemmSize gemm, const SystolicRun& run) {
  Json json = {{"schema_version", 1}, {"dataflow", to_text(dataflow)}};
  json["array"] = {{"rows", array.rows}, {"columns", array.columns}};
  json["m"] = gemm.m, json["n"] = gemm.n, json["k"] = gemm.k;
  json["cycles"] = run.cycles;
  json["utilization"] = run.utilization;
  json["row_folds"] = run.row_folds;
  json["column_folds"] = run.column_folds;
  json["load_cycles_per_fold"] = run.load;
  json["stream_cycles_per_fold"] = run.stream;
  return json.dump(2) + "\n";
}

std::string plain_text(SystolicDataflow dataflow, SystolicArray array, GemmSize gemm,
                       const SystolicRun& run) {
  struct Names {
    std::string_view stays, rows, columns, streamed;
  };
  constexpr Names kNames[] = {{"weight", "K", "N", "M"}, {"output", "M", "N", "K"}, {"input", "K", "M", "N"}};
  const Names& names = kNames[static_cast<size_t>(dataflow)];
  std::string text = fmt::format("[{},{}] x [{},{}] on {} x {}, {}-stationary ({})\n", gemm.m, gemm.k, gemm.k,
                                 gemm.n, array.rows, array.columns, names.stays, to_text(dataflow));
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<16} {}\n", name, value);
  };
  line("folds", fmt::format("{} = ceil({}={} / {} rows) {} x ceil({}={} / {} columns) {}",
                            run.row_folds * run.column_folds, names.rows, run.on_rows, array.rows,
                            run.row_folds, names.columns, run.on_columns, array.columns, run.column_folds));
  line("load", run.load == 0 ? "0 cycles of a fold: outputs start from zero"
                             : fmt::format("{} cycles of a fold, one row per cycle", run.load));
  line("stream", fmt::format("{} cycles of a fold = {}={} + {} rows + {} columns - 2", run.stream,
                             names.streamed, run.streamed, array.rows, array.columns));
  line("cycles",
       fmt::format("{} = folds x (load + stream) - 1, the number of the last cycle from 0", run.cycles));
  line("utilization", fmt::format("{:.2f} % of {} places", run.utilization * 100,
                                  static_cast<double>(array.rows) * static_cast<double>(array.columns)));
  return text;
}

int systolic(const SystolicArguments& options, Streams streams) {
  const Result<SystolicArray> array = read_array(options.array);
  const Result<GemmSize> gemm = read_sizes(options.sizes);
  for (const Diagnostic* problem : {array ? nullptr : &array.error(), gemm ? nullptr : &gemm.error()})
    if (problem) tell(*problem, streams);
  if (!array || !gemm) return kExitInput;
  const SystolicDataflow dataflow = read_dataflow(options.dataflow);
  const Result<SystolicRun> run = systolic_run(dataflow, *array, *gemm);
  if (!run) {
    tell(run.error(), streams);
    return kExitInput;
  }
  const std::string text = options.format == "json" ? run_json(dataflow, *array, *gemm, *run)
                                                    : plain_text(dataflow, *array, *gemm, *run);
  return write_output(options.output, text, streams) ? kExitSuccess : kExitInput;
}

}  // namespace

std::function<int()> declare_systolic(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<SystolicArguments>();
  line.add_option("SIZE", options->sizes, "M N K of the product [M,K] x [K,N]").required();
  line.add_option("--dataflow", options->dataflow, "Stationary operand: ws weights, os outputs, is inputs")
      .one_of({"ws", "os", "is"})
      .show_default();
  line.add_option("--array", options->array, "Rows and columns of the array").show_default();
  line.add_option("--format", options->format, "text or json").one_of({"text", "json"}).show_default();
  line.add_option("-o,--output", options->output, "Output file; - is standard output")
      .writes_file(streams.files)
      .show_default();
  line.format_by_suffix(options->format, options->output);
  return [options, streams] { return systolic(*options, streams); };
}

}  // namespace hlosim
