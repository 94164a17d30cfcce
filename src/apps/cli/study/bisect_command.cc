// hlosim bisect: which of a row of versions of a module became slower first, and because of which
// instructions.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "cli/study/compare_commands.h"
#include "cli/study/run_reader.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/verbosity.h"
#include "study/diff.h"
#include "text/json.h"
#include "text/table.h"

namespace hlosim {
namespace {

struct BisectArguments : SimulationOptions {
  std::string format = "text";
  std::string output = "-";
  std::string metric = "time";
  double tolerance = 0;
  bool everything = false;
  int64_t top = 10;
};

/// The versions, oldest first; each is simulated when it is asked for.
class Versions {
 public:
  Versions(const BisectArguments& options, Streams streams)
      : options_(options), streams_(streams), reader_(options, false, streams) {}

  size_t size() const { return options_.files.size(); }
  const std::string& file(size_t index) const { return options_.files[index]; }

  /// Null, with what is wrong printed: the file doesn't have exactly one chosen module, or not the metric.
  const Metrics* run(size_t index) {
    const auto known = runs_.find(index);
    if (known != runs_.end()) return &known->second;
    Runs runs;
    if (!reader_.read(file(index), runs)) return nullptr;
    if (runs.figures.size() != 1) {
      complain(fmt::format("{}: one module is compared, there are {}", file(index), runs.figures.size()),
               "--module chooses one", streams_);
      return nullptr;
    }
    if (!value_of(runs.figures[0])) {
      complain(fmt::format("{}: no metric '{}'", file(index), options_.metric), "", streams_);
      return nullptr;
    }
    return &runs_.emplace(index, std::move(runs.figures[0])).first->second;
  }

  std::optional<int64_t> value_of(const Metrics& run) const {
    const int index = run.index_of(options_.metric);
    return index < 0 ? std::nullopt : std::optional(run.totals[static_cast<size_t>(index)]);
  }
  /// Requires: run(index) succeeded.
  int64_t value(size_t index) const { return *value_of(runs_.at(index)); }
  bool is_simulated(size_t index) const { return runs_.contains(index); }

  /// Larger than the first version's value by more than the tolerance.
  bool is_slower(size_t index) const {
    return static_cast<double>(value(index)) > static_cast<double>(value(0)) * (1 + options_.tolerance / 100);
  }

 private:
  const BisectArguments& options_;
  Streams streams_;
  RunReader reader_;
  std::map<size_t, Metrics> runs_;
};

/// The first slower version; size() if the last one is not slower. Nothing, with what is wrong printed, where
/// one can't be
/// simulated. Without `everything` by binary search, which takes it that versions stay slower.
std::optional<size_t> first_slower(Versions& versions, bool everything) {
  const size_t last = versions.size() - 1;
  if (everything) {
    std::optional<size_t> found;
    for (size_t i = 0; i <= last; ++i) {
      if (!versions.run(i)) return std::nullopt;
      if (!found && versions.is_slower(i)) found = i;
    }
    return found.value_or(versions.size());
  }
  if (!versions.run(0) || !versions.run(last)) return std::nullopt;
  if (!versions.is_slower(last)) return versions.size();
  size_t good = 0, bad = last;
  while (good + 1 < bad) {
    const size_t middle = good + (bad - good) / 2;
    if (!versions.run(middle)) return std::nullopt;
    (versions.is_slower(middle) ? bad : good) = middle;
  }
  return bad;
}

/// Requires: the run has the metric.
std::string value_text(const Metrics& run, const std::string& name, int64_t value) {
  return amount_text(run.metrics[static_cast<size_t>(run.index_of(name))].unit, value);
}

std::string text_of(Versions& versions, size_t found, const BisectArguments& options, Streams streams) {
  Table table({{"version", Align::kLeft, 48}, {options.metric}, {"against the first"}, {"", Align::kLeft}});
  for (size_t i = 0; i < versions.size(); ++i) {
    if (!versions.is_simulated(i)) continue;
    const double change =
        versions.value(0) != 0
            ? static_cast<double>(versions.value(i)) / static_cast<double>(versions.value(0)) - 1
            : 0;
    table.add({versions.file(i), value_text(*versions.run(i), options.metric, versions.value(i)),
               fmt::format("{:+.1f} %", 100 * change), i == found ? "first slower one" : ""});
  }
  std::string out = table.text("");
  if (found == versions.size()) return out + "\nno version is slower than the first\n";
  const Diff diff = make_diff(*versions.run(found - 1), *versions.run(found));
  return out +
         fmt::format("\n{} is the first slower version; what changed in it:\n\n", versions.file(found)) +
         to_text(diff,
                 {.top = static_cast<size_t>(options.top), .paint = output_paint(options.output, streams)});
}

std::string json_of(Versions& versions, size_t found, const BisectArguments& options) {
  Json rows = Json::array();
  for (size_t i = 0; i < versions.size(); ++i)
    if (versions.is_simulated(i)) rows.push_back({{"file", versions.file(i)}, {"value", versions.value(i)}});
  Json document = {{"schema_version", 1}, {"metric", options.metric}};
  document["simulated"] = std::move(rows);
  document["first_slower"] = found < versions.size() ? Json(versions.file(found)) : Json();
  if (found < versions.size())
    document["diff"] =
        Json::parse(to_json(make_diff(*versions.run(found - 1), *versions.run(found)), HLOSIM_VERSION))
            .value_or(Json());
  return document.dump(2) + "\n";
}

int bisect(const BisectArguments& options, Streams streams) {
  if (options.files.size() < 2) {
    complain("bisect compares two versions and more, oldest first", "", streams);
    return kExitInput;
  }
  Versions versions(options, streams);
  const std::optional<size_t> found = first_slower(versions, options.everything);
  if (!found) return kExitInput;
  // The version before the first slower one may not have been simulated by a linear search's early end.
  if (*found < versions.size() && (*found == 0 || !versions.run(*found - 1))) return kExitInput;
  const std::string text = options.format == "json" ? json_of(versions, *found, options)
                                                    : text_of(versions, *found, options, streams);
  if (!write_output(options.output, text, streams)) return kExitInput;
  return *found < versions.size() ? kExitFailedCheck : kExitSuccess;
}

}  // namespace

std::function<int()> declare_bisect(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<BisectArguments>();
  declare_simulation(line, *options);
  line.option("FILE").description(
      "Versions of a module, oldest first: files, folders written by --xla_dump_to, or reports saved by "
      "--format=json");
  line.add_option("--metric", options->metric, "Metric to compare, as of diff").show_default();
  line.add_option("--tolerance", options->tolerance,
                  "Increase over the first version, in percent, that counts as none")
      .not_negative()
      .show_default();
  line.add_flag("--all", options->everything, "Simulate every version instead of a binary search");
  line.add_option("--top", options->top, "Rows of each list in the text; 0: all").from(0).show_default();
  line.add_option("--format", options->format, "text or json").one_of({"text", "json"}).show_default();
  line.add_option("-o,--output", options->output, "Output file; - is standard output")
      .writes_file(streams.files)
      .show_default();
  line.format_by_suffix(options->format, options->output);
  return [options, streams] { return bisect(*options, streams); };
}

}  // namespace hlosim
