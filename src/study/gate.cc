#include "study/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <set>

#include "text/escape.h"

namespace hlosim {
namespace {

constexpr size_t kCulprits = 3;

Culprit culprit_of(const Diff& diff, const InstructionDiff& row, size_t metric) {
  Culprit culprit;
  culprit.name = name_text(diff, row);
  culprit.kind = kind_text(diff, row);
  culprit.change = change_text(diff.metrics[metric].metric.unit, row.change[metric]);
  culprit.reason = reason_text(diff, row, metric);
  if (const InstructionMetrics* after = diff.new_of(row)) {
    culprit.line = after->line;
    culprit.source_file = after->source_file;
    culprit.source_line = after->source_line;
  }
  return culprit;
}

class Judge {
 public:
  Judge(const GateConfig& config, const GateRun& run, const GateRun* before) : config_(config) {
    module_.run = &run;
    module_.before = before;
  }

  GateModule make() {
    const std::string obstacle = why_not_comparable();
    for (size_t m = 0; m < module_.run->figures.metrics.size(); ++m) {
      const Metric& metric = module_.run->figures.metrics[m];
      if (!config_.watches(metric.name)) continue;
      add_row(metric, m, obstacle);
    }
    for (const GateRow& row : module_.rows) module_.verdict = worse(module_.verdict, row.verdict);
    if (!module_.before) module_.reason = "the baseline doesn't have it";
    if (!obstacle.empty()) module_.reason = obstacle;
    return std::move(module_);
  }

 private:
  static Verdict worse(Verdict a, Verdict b) {
    const auto rank = [](Verdict verdict) {
      switch (verdict) {
        case Verdict::kPassed:
          return 0;
        case Verdict::kImproved:
          return 1;
        case Verdict::kNew:
          return 2;
        case Verdict::kNotComparable:
          return 3;
        case Verdict::kRegressed:
          return 4;
      }
      return 0;
    };
    return rank(a) >= rank(b) ? a : b;
  }

  std::string why_not_comparable() const {
    if (!module_.before) return {};
    const GateRun& old_run = *module_.before;
    const Metrics& before = old_run.figures;
    const Metrics& after = module_.run->figures;
    if (before.model_version != after.model_version)
      return fmt::format("the baseline is of version {} of the model, this is version {}",
                         before.model_version.value_or(0), after.model_version.value_or(0));
    if (before.device_fingerprint != after.device_fingerprint)
      return fmt::format("the device changed, by its file or by options: {} was {}, now {}",
                         module_.run->device, before.device_fingerprint, after.device_fingerprint);
    if (old_run.options != module_.run->options)
      return fmt::format("the options changed: {}; now {}", old_run.options, module_.run->options);
    return {};
  }

  /// The same instructions on the same operands, where the order of lines has no meaning.
  bool same_program() const {
    const Metrics& before = module_.before->figures;
    const Metrics& after = module_.run->figures;
    return before.module_fingerprint != after.module_fingerprint && !before.structure.empty() &&
           before.structure == after.structure && !module_.run->scheduled;
  }

  void add_row(const Metric& metric, size_t index, const std::string& obstacle) {
    GateRow row;
    row.metric = metric;
    row.after = module_.run->figures.totals[index];
    const GateLimit* limit = config_.limit_of(module_.run->name(), module_.run->device, metric.name);
    row.limit = limit ? limit->text(metric.unit) : "0";
    if (module_.before) {
      const int old = module_.before->figures.index_of(metric.name);
      // A memory space that nothing was in has no metric.
      row.before = old < 0 ? 0 : module_.before->figures.totals[static_cast<size_t>(old)];
    }
    row.verdict = !module_.before     ? Verdict::kNew
                  : !obstacle.empty() ? Verdict::kNotComparable
                                      : compared(row, limit);
    if (limit && limit->most && row.after > *limit->most) {
      row.verdict = Verdict::kRegressed;
      row.note = "above the most that is allowed";
    }
    if (row.verdict == Verdict::kRegressed) add_culprits(row);
    module_.rows.push_back(std::move(row));
  }

  Verdict compared(GateRow& row, const GateLimit* limit) const {
    if (row.after == *row.before) return Verdict::kPassed;
    if (same_program()) {
      row.note = "the same program, its lines in another order";
      return Verdict::kPassed;
    }
    if (row.after < *row.before) return Verdict::kImproved;
    return exceeds(*row.before, row.after, limit) ? Verdict::kRegressed : Verdict::kPassed;
  }

  static bool exceeds(int64_t before, int64_t after, const GateLimit* limit) {
    if (!limit || (!limit->relative && !limit->absolute)) return true;
    const long double increase = static_cast<long double>(after) - static_cast<long double>(before);
    if (limit->absolute && increase > static_cast<long double>(*limit->absolute)) return true;
    // 6 % is no binary fraction: what differs from the limit by its rounding alone is equal to it.
    constexpr long double kRounding = 1 + 4 * std::numeric_limits<double>::epsilon();
    return limit->relative && increase > kRounding * static_cast<long double>(before) *
                                             static_cast<long double>(*limit->relative);
  }

  void add_culprits(GateRow& row) {
    if (!module_.before) return;
    if (!diff_) diff_ = make_diff(module_.before->figures, module_.run->figures);
    size_t metric = 0;
    while (metric < diff_->metrics.size() && diff_->metrics[metric].metric.name != row.metric.name) ++metric;
    if (metric == diff_->metrics.size()) return;
    for (const InstructionDiff* part : diff_->contributions(metric)) {
      if (part->change[metric] <= 0) continue;
      row.culprits.push_back(culprit_of(*diff_, *part, metric));
      if (row.culprits.size() == kCulprits) break;
    }
    if (diff_->metrics[metric].rest > 0 && row.culprits.empty())
      row.note = fmt::format("{}{} {}", row.note.empty() ? "" : row.note + "; ", rest_text(row.metric),
                             change_text(row.metric.unit, diff_->metrics[metric].rest));
  }

  const GateConfig& config_;
  GateModule module_;
  std::optional<Diff> diff_;
};

/// The same program under another name, of the module or of its file.
bool is_renamed(const GateRun& before, const GateRun& after) {
  return before.device == after.device && !before.figures.structure.empty() &&
         before.figures.structure == after.figures.structure;
}

}  // namespace

// Where ".." leads to is the file system's to say, and names are found without those that lead back.
std::string key_text(const std::string& file) {
  std::filesystem::path path;
  for (const std::filesystem::path& part : std::filesystem::path(file))
    if (part != ".") path /= part;
  return valid_utf8(path.generic_string());
}

std::string GateRun::key() const {
  return fmt::format("{}\n{}\n{}\n{}", key_text(file), valid_utf8(figures.module_name), number,
                     valid_utf8(device));
}
std::string GateRun::name() const { return fmt::format("{}:{}", file, figures.module_name); }
std::string GateRun::title() const {
  return number == 0 ? name() : fmt::format("{} ({})", name(), number + 1);
}

std::string GateGone::text() const { return fmt::format("{} on {}", name, device); }

const GateRun* Baseline::find(const std::string& key) const {
  for (const GateRun& run : runs)
    if (run.key() == key) return &run;
  return nullptr;
}

bool GateModule::got_slower() const {
  return std::ranges::any_of(rows, [](const GateRow& row) {
    return row.metric.name == "time" && row.verdict == Verdict::kRegressed;
  });
}

std::string_view to_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      return "passed";
    case Verdict::kImproved:
      return "improved";
    case Verdict::kRegressed:
      return "regressed";
    case Verdict::kNew:
      return "new";
    case Verdict::kNotComparable:
      return "not comparable";
  }
  return "";
}

size_t GateResult::count(Verdict verdict) const {
  size_t sum = 0;
  for (const GateModule& module : modules)
    for (const GateRow& row : module.rows) sum += row.verdict == verdict;
  return sum;
}

size_t GateResult::modules_with(Verdict verdict) const {
  return static_cast<size_t>(std::count_if(modules.begin(), modules.end(), [&](const GateModule& module) {
    return std::any_of(module.rows.begin(), module.rows.end(),
                       [&](const GateRow& row) { return row.verdict == verdict; });
  }));
}

int GateResult::exit_code() const {
  if (!errors.empty()) return 2;
  if (on_incomparable == GatePolicy::kFail && count(Verdict::kNotComparable) > 0) return 2;
  if (count(Verdict::kRegressed) > 0) return 1;
  if (on_gone == GatePolicy::kFail && !gone.empty()) return 1;
  return on_new == GatePolicy::kFail && count(Verdict::kNew) > 0 ? 1 : 0;
}

std::vector<Diagnostic> idle_parts(const GateConfig& config, const GateResult& result) {
  std::set<const GateLimit*> used;
  std::set<std::string> metrics;
  for (const GateModule& module : result.modules) {
    for (const Metric& metric : module.run->figures.metrics) metrics.insert(metric.name);
    for (const GateRow& row : module.rows)
      used.insert(config.limit_of(module.run->name(), module.run->device, row.metric.name));
  }
  std::vector<Diagnostic> idle;
  const auto warn = [&](const Value& place, std::string message, std::string hint) {
    idle.push_back(error_at(place, std::move(message), std::move(hint)));
    idle.back().severity = Severity::kWarning;
  };
  for (size_t i = 0; i < config.metrics.size(); ++i)
    if (std::none_of(metrics.begin(), metrics.end(),
                     [&](const std::string& metric) { return config.metric_expressions[i].matches(metric); }))
      warn(config.metrics[i].place, "no module has such a metric on these devices", "");
  for (const GateLimit& limit : config.limits)
    if (!used.count(&limit))
      warn(limit.place, "no number is held to this limit",
           "`module` is found in file:name; of the limits that fit, the first decides");
  return idle;
}

GateResult judge(const GateConfig& config, const std::vector<GateRun>& runs, const Baseline& baseline) {
  GateResult result;
  result.on_new = config.on_new;
  result.on_gone = config.on_gone;
  result.on_incomparable = config.on_incomparable;
  std::map<std::string, const GateRun*> known;
  for (const GateRun& run : baseline.runs) known.emplace(run.key(), &run);
  for (const GateRun& run : runs) {
    const auto found = known.find(run.key());
    result.modules.push_back(Judge(config, run, found == known.end() ? nullptr : found->second).make());
    if (found != known.end()) known.erase(found);
  }
  for (const GateRun& run : baseline.runs)
    if (known.count(run.key())) result.gone.push_back({run.title(), run.device, run.file});
  for (GateModule& module : result.modules) {
    if (module.before) continue;
    const auto same = std::find_if(known.begin(), known.end(),
                                   [&](const auto& gone) { return is_renamed(*gone.second, *module.run); });
    if (same != known.end())
      module.reason = fmt::format("the baseline has the same program as {}", same->second->name());
  }
  return result;
}

}  // namespace hlosim
