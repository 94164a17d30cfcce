#include "study/accuracy_program.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <optional>

#include "base/text.h"
#include "base/value.h"
#include "estimate/estimate.h"
#include "estimate/named_slice.h"
#include "flags/xla_flags.h"
#include "input/hlo_file.h"
#include "input/load_modules.h"
#include "interconnect/slice.h"
#include "model/device_files.h"
#include "model/device_overrides.h"
#include "ops/op_table.h"
#include "text/escape.h"
#include "text/read_json.h"
#include "text/table.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

Diagnostic first_of(const DiagnosticList& problems) {
  for (const Diagnostic& problem : problems.items())
    if (problem.severity == Severity::kError) return problem;
  return failure("unknown error").value();
}

/// Reads one file and runs what it names.
class ProgramRun {
 public:
  ProgramRun(const Value& root, const std::string& path) : root_(root), path_(path) {}

  Result<MeasuredProgram> run(const DeviceSearch& search, const Limits& limits) {
    const Result<std::string> module = text("module"), device_name = text("device");
    if (!module) return tl::unexpected(module.error());
    if (!device_name) return tl::unexpected(device_name.error());
    DiagnosticList problems;
    std::optional<Device> device = load_device(*device_name, {}, search, problems);
    if (device)
      device = with_overrides(*device, xla_flag_overrides(flags(), device->config, problems), problems);
    if (!device || problems.has_errors()) return tl::unexpected(first_of(problems));
    const auto file = (std::filesystem::path(path_).parent_path() / *module).string();
    const Result<SourcePtr> source = read_text_source(file);
    if (!source) return tl::unexpected(source.error());
    const std::vector<Module> modules = load_modules(*source, op_table(), problems, {limits, {}, false});
    if (problems.has_errors()) return tl::unexpected(first_of(problems));
    if (modules.size() != 1)
      return failure(fmt::format("{} has {} modules instead of one", file, modules.size()));
    EstimateOptions options;
    options.simulate.keep_timeline = false;
    if (const Value* topology = root_.find("topology"); topology && topology->is_scalar()) {
      const Result<SliceRequest> slice = parse_topology(topology->text);
      if (!slice) return tl::unexpected(error_at(*topology, slice.error().message, slice.error().hint));
      options.simulate.slice = *slice;
    }
    const Result<SliceRequest> slice = on_named_slice(options.simulate.slice, *device_name, *device);
    if (!slice) return tl::unexpected(slice.error());
    options.simulate.slice = *slice;
    const Result<Estimate> estimate = hlosim::estimate(modules[0], op_table(), *device, options);
    if (!estimate) return tl::unexpected(estimate.error());
    MeasuredProgram program;
    program.name = std::filesystem::path(*module).stem().string();
    program.device = *device_name;
    program.files = files_of(*device);
    program.files.insert(program.files.end(), {path_, file});
    return add_rows(estimate->simulation->totals, std::move(program));
  }

 private:
  Result<std::string> text(std::string_view key) const {
    const Value* value = root_.find(key);
    if (!value || !value->is_scalar())
      return tl::unexpected(error_at(root_, fmt::format("a program without \"{}\"", key)));
    return value->text;
  }

  std::vector<XlaFlag> flags() const {
    std::vector<XlaFlag> flags;
    const Value* given = root_.find("flags");
    if (!given || !given->is_map()) return flags;
    for (const Value& flag : given->items)
      flags.push_back({flag.key, flag.text, flag.source, flag.key_offset, flag.offset});
    return flags;
  }

  static Result<double> number(const Value* value, const Value& around, std::string_view name) {
    double read = 0;
    if (value && value->is_scalar() && value->annotation == kJsonNumber &&
        std::from_chars(value->text.data(), value->text.data() + value->text.size(), read).ec == std::errc())
      return read;
    return tl::unexpected(
        error_at(around, fmt::format("expected a number of milliseconds for \"{}\"", name)));
  }

  /// The measured categories that `names` joins.
  Result<double> sum(const Value& names) const {
    const Value* categories = root_.find("categories_ms");
    double all = 0;
    for (size_t at = 0; at <= names.key.size();) {
      const size_t end = std::min(names.key.find(" + ", at), names.key.size());
      const std::string name = names.key.substr(at, end - at);
      const Result<double> one = number(categories ? categories->find(name) : nullptr, names, name);
      if (!one) return one;
      all += *one;
      at = end + 3;
    }
    return all;
  }

  Result<MeasuredProgram> add_rows(const Totals& totals, MeasuredProgram program) const {
    const auto ms = [](Picoseconds time) { return static_cast<double>(time.count()) / 1e9; };
    if (const Value* compared = root_.find("compare_with"); compared && compared->is_map())
      for (const Value& names : compared->items) {
        const Result<double> measured = sum(names);
        if (!measured) return tl::unexpected(measured.error());
        std::optional<Picoseconds> time;
        for (size_t i = 0; i < kCostCategoryCount; ++i)
          if (to_text(static_cast<CostCategory>(i)) == names.text) time = totals.by_category[i];
        if (!time)
          return tl::unexpected(
              error_at(names, fmt::format("'{}' is not a category here", shown(names.text))));
        program.rows.push_back({names.text, *measured, ms(*time)});
      }
    const Value* step = root_.find("step_ms");
    const Result<double> whole = number(step ? step->find("profiled") : nullptr, root_, "step_ms.profiled");
    if (!whole) return tl::unexpected(whole.error());
    program.rows.push_back({"step", *whole, ms(totals.makespan)});
    return program;
  }

  const Value& root_;
  const std::string& path_;
};

std::vector<std::string> cells(const MeasuredProgram::Row& row) {
  return {
      row.name, fmt::format("{:.1f} ms", row.simulated_ms), fmt::format("{:.1f} ms", row.measured_ms),
      row.measured_ms > 0 ? fmt::format("{:+.1f} %", (row.simulated_ms / row.measured_ms - 1) * 100) : "-"};
}

}  // namespace

Result<MeasuredProgram> measure_program(const std::string& path, const DeviceSearch& search,
                                        const Limits& limits) {
  const Result<SourcePtr> source = read_text_source(path);
  if (!source) return tl::unexpected(source.error());
  DiagnosticList problems;
  const std::optional<Value> root = parse_json(*source, problems);
  if (!root) return tl::unexpected(first_of(problems));
  if (!root->is_map()) return tl::unexpected(error_at(*root, "a measured program is an object"));
  return ProgramRun(*root, path).run(search, limits);
}

std::string programs_text(std::span<const MeasuredProgram> programs) {
  std::string text;
  const TextBuilder print{text};
  for (const MeasuredProgram& program : programs) {
    Table table({{"category", Align::kLeft}, {"simulated"}, {"measured"}, {"off"}});
    for (const MeasuredProgram::Row& row : program.rows) table.add(cells(row));
    print("\n{} on {}\n\n{}", program.name, program.device, table.text("  "));
  }
  return text;
}

std::string programs_markdown(std::span<const MeasuredProgram> programs) {
  std::string text = programs.empty() ? "" : "\n## Whole programs\n";
  const TextBuilder print{text};
  for (const MeasuredProgram& program : programs) {
    print("\n### {} on {}\n\n| category | simulated | measured | off |\n| --- | ---: | ---: | ---: |\n",
          program.name, program.device);
    for (const MeasuredProgram::Row& row : program.rows) {
      std::string line = "|";
      for (const std::string& cell : cells(row)) line += " " + markdown_cell(cell) + " |";
      print("{}\n", line);
    }
  }
  return text;
}

}  // namespace hlosim
