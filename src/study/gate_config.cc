#include "study/gate_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/quantity_text.h"
#include "base/text.h"
#include "stablehlo/dimension_sizes.h"
#include "text/entry_fields.h"

namespace hlosim {
namespace {

constexpr std::string_view kPolicies[] = {"pass", "warn", "fail"};
// A good change often brings more of these; a config may name them in `metrics`.
constexpr std::string_view kUngated[] = {"exposed_others", "vector_operations", "transcendentals"};

class GateConfigReader {
 public:
  explicit GateConfigReader(DiagnosticList& problems) : problems_(problems) {}

  std::optional<GateConfig> read(const SourcePtr& source) {
    const std::optional<Value> root = parse_yaml(source, problems_);
    if (!root) return std::nullopt;
    if (!root->is_map()) {
      problems_.add(error_at(*root, fmt::format("expected the keys of a gate, found {}", described(*root)),
                             "`hlosim init` writes an example"));
      return std::nullopt;
    }
    read_keys(*root);
    if (!root->find("modules"))
      problems_.add(error_at(*root, "\"modules\" is missing", "modules: [examples/*.hlo]"));
    if (!root->find("devices")) problems_.add(error_at(*root, "\"devices\" is missing", "devices: [v5e]"));
    if (problems_.has_errors()) return std::nullopt;
    return std::move(config_);
  }

 private:
  void read_keys(const Value& root) {
    EntryFields fields(root, "a gate", problems_);
    const auto with = [&](std::string_view key, auto&& read) {
      if (const Value* item = fields.find(key)) read(*item);
    };
    const auto texts_of = [&](std::string_view key, std::vector<GateText>& into) {
      with(key, [&](const Value& item) { texts(item, into); });
    };
    const auto placed = [&](std::string_view key, GateText& into) {
      if (fields.text(key, into.text)) into.place = *fields.find(key);
    };
    const auto policy_of = [&](std::string_view key, GatePolicy& into) {
      with(key, [&](const Value& item) { policy(item, into); });
    };
    fields.text("baseline", config_.baseline);
    texts_of("modules", config_.modules);
    with("devices", [&](const Value& item) { devices(item); });
    with("metrics", [&](const Value& item) { metrics(item); });
    texts_of("set", config_.set);
    texts_of("xla_flags", config_.xla_flags);
    placed("topology", config_.topology);
    placed("mesh", config_.mesh);
    fields.whole("slices", config_.slices, 1);
    fields.whole("while_trip_count", config_.while_trip_count, 0);
    fields.flag("lower", config_.lower);
    fields.flag("partition", config_.partition);
    placed("custom_call_costs", config_.custom_call_costs);
    placed("advise", config_.advise);
    with("dim", [&](const Value& item) { dimensions(item); });
    fields.flag("partial", config_.partial);
    with("limits", [&](const Value& item) { limits(item); });
    policy_of("on_new", config_.on_new);
    policy_of("on_gone", config_.on_gone);
    policy_of("on_incomparable", config_.on_incomparable);
    fields.refuse_rest();
  }

  bool scalar(const Value& item, std::string_view expected) {
    if (item.is_scalar() && !item.text.empty()) return true;
    problems_.add(
        error_at(item, fmt::format("{}: expected {}, found {}", item.key.empty() ? "this" : item.key,
                                   expected, described(item))));
    return false;
  }
  void texts(const Value& item, std::vector<GateText>& into) {
    if (!item.is_list() || item.items.empty()) {
      problems_.add(error_at(item, fmt::format("{}: expected a list, found {}", item.key,
                                               item.is_list() ? "an empty one" : described(item))));
      return;
    }
    for (const Value& one : item.items)
      if (scalar(one, "text")) into.push_back({one.text, one});
  }
  void dimensions(const Value& item) {
    std::vector<GateText> given;
    texts(item, given);
    for (const GateText& one : given) {
      const auto sizes = stablehlo::parse_dimensions(one.text);
      if (!sizes) {
        problems_.add(error_at(one.place, "dim: " + sizes.error().message, sizes.error().hint));
        continue;
      }
      config_.dimensions.insert(config_.dimensions.end(), sizes->begin(), sizes->end());
    }
  }
  void devices(const Value& item) {
    texts(item, config_.devices);
    for (size_t i = 0; i < config_.devices.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (config_.devices[i].text == config_.devices[j].text)
          problems_.add(error_at(config_.devices[i].place,
                                 fmt::format("device '{}' is there twice", shown(config_.devices[i].text))));
  }
  void policy(const Value& item, GatePolicy& into) {
    if (!scalar(item, "pass, warn or fail")) return;
    const std::optional<GatePolicy> value = parse_gate_policy(item.text);
    if (value)
      into = *value;
    else
      problems_.add(error_at(item,
                             fmt::format("{}: '{}' is none of pass, warn, fail", item.key, shown(item.text)),
                             did_you_mean(item.text, kPolicies)));
  }
  bool expression(const Value& item, Pattern& into) {
    if (!scalar(item, "a regular expression")) return false;
    Result<Pattern> pattern = Pattern::parse(item.text);
    if (pattern)
      into = std::move(*pattern);
    else
      problems_.add(error_at(item, pattern.error().message));
    return pattern.has_value();
  }

  void metrics(const Value& item) {
    texts(item, config_.metrics);
    for (const GateText& one : config_.metrics) {
      Pattern expression_of_one;
      if (!expression(one.place, expression_of_one)) continue;
      if (!may_match(expression_of_one))
        problems_.add(error_at(one.place, fmt::format("no metric is called '{}'", shown(one.text)),
                               hint_for(one.text)));
      config_.metric_expressions.push_back(std::move(expression_of_one));
    }
  }

  /// Every metric there may be: spaces have the names that device files give them.
  static bool may_match(const Pattern& expression_of_metric) {
    for (const Metric& metric : known_metrics())
      if (expression_of_metric.matches(metric.name)) return true;
    return false;
  }
  static std::vector<Metric> known_metrics() {
    std::vector<Metric> metrics = common_metrics();
    for (const std::string_view space : {"hbm", "vmem", "smem", "cmem", "sync", "host", "S(9)", "x"})
      metrics.push_back({fmt::format("peak.{}", space), MetricUnit::kBytes});
    return metrics;
  }
  static std::string hint_for(std::string_view text) {
    std::vector<Metric> metrics = known_metrics();
    std::vector<std::string_view> names;
    for (const Metric& metric : metrics) names.push_back(metric.name);
    std::string hint = did_you_mean(text, names);
    return hint.empty() ? fmt::format("there are: {}", fmt::join(names.begin(), names.end() - 2, ", "))
                        : hint;
  }

  void limits(const Value& item) {
    if (!item.is_list()) {
      problems_.add(error_at(item, fmt::format("limits: expected a list, found {}", described(item)),
                             "limits: [{metric: time, relative: 1 %}]"));
      return;
    }
    for (const Value& one : item.items) limit(one);
  }

  void limit(const Value& item) {
    if (!item.is_map()) {
      problems_.add(
          error_at(item, fmt::format("a limit is a section, as in {{metric: time, relative: 1 %}}, not {}",
                                     described(item))));
      return;
    }
    GateLimit limit;
    limit.place = item;
    EntryFields fields(item, "a limit", problems_);
    if (const Value* part = fields.find("module")) expression(*part, limit.module);
    if (const Value* part = fields.find("device")) expression(*part, limit.device);
    if (const Value* part = fields.find("metric"))
      if (expression(*part, limit.metric) && !may_match(limit.metric))
        problems_.add(error_at(*part, fmt::format("no metric is called '{}'", shown(part->text)),
                               hint_for(part->text)));
    if (const Value* part = fields.find("relative")) relative(*part, limit);
    if (const Value* part = fields.find("absolute")) limit.absolute = amount(*part, limit);
    if (const Value* part = fields.find("most")) limit.most = amount(*part, limit);
    fields.refuse_rest();
    check_unit(limit);
    config_.limits.push_back(std::move(limit));
  }

  // "1 %", "0.5%", or 0.01.
  void relative(const Value& item, GateLimit& into) {
    if (!scalar(item, "a share, as in 1 %")) return;
    std::string text = item.text;
    const bool percent = text.back() == '%';
    if (percent) text.pop_back();
    while (!text.empty() && text.back() == ' ') text.pop_back();
    const Result<double> value = TextForm<double>::read(text);
    if (value && *value >= 0 && std::isfinite(*value))
      into.relative = percent ? *value / 100 : *value;
    else
      problems_.add(
          error_at(item, fmt::format("relative: '{}' is not a share, as in 1 % or 0.01", shown(item.text))));
  }

  // A time, a size, or a count: the text says which.
  std::optional<int64_t> amount(const Value& item, GateLimit& limit) {
    if (!scalar(item, "an amount, as in 10 us, 1 MiB or 1000")) return std::nullopt;
    std::optional<int64_t> value;
    MetricUnit unit = MetricUnit::kCount;
    if (const Result<Picoseconds> time = TextForm<Picoseconds>::read(item.text)) {
      value = time->count();
      unit = MetricUnit::kPicoseconds;
    } else if (const Result<Bytes> bytes = TextForm<Bytes>::read(item.text)) {
      value = bytes->count();
      unit = MetricUnit::kBytes;
    } else if (const Result<double> count = TextForm<double>::read(item.text);
               count && std::abs(*count) < 9e18) {
      value = static_cast<int64_t>(std::llround(*count));
    }
    if (!value || *value < 0) {
      problems_.add(error_at(item, fmt::format("{}: '{}' is not an amount, as in 10 us, 1 MiB or 1000",
                                               item.key, shown(item.text))));
      return std::nullopt;
    }
    // 0 is 0 of anything.
    if (*value == 0 && unit == MetricUnit::kCount) return value;
    if (limit.unit && *limit.unit != unit)
      problems_.add(error_at(item, "the amounts of one limit have different units"));
    limit.unit = unit;
    return value;
  }

  void check_unit(const GateLimit& limit) {
    if (!limit.unit) return;
    for (const Metric& metric : known_metrics()) {
      if (metric.unit == *limit.unit || !limit.metric.matches(metric.name)) continue;
      problems_.add(error_at(limit.place,
                             fmt::format("a limit in {} on {}, which is in {}", to_text(*limit.unit),
                                         metric.name, to_text(metric.unit)),
                             "one limit for metrics of one unit, or `relative`"));
      return;
    }
  }

  DiagnosticList& problems_;
  GateConfig config_;
};

}  // namespace

namespace {

/// As it stands where YAML takes it for text.
std::string yaml_text(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '/';
  });
  return plain && !text.empty() && text[0] != '-' ? text : yaml_quoted(text);
}

}  // namespace

std::optional<GatePolicy> parse_gate_policy(std::string_view text) {
  if (text == "pass") return GatePolicy::kPass;
  if (text == "warn") return GatePolicy::kWarn;
  if (text == "fail") return GatePolicy::kFail;
  return std::nullopt;
}

std::string GateLimit::text(MetricUnit metric_unit) const {
  std::string out;
  if (relative) out = fmt::format("{:.6g} %", 100 * *relative);
  if (absolute) out += (out.empty() ? "" : ", ") + amount_text(metric_unit, *absolute);
  if (out.empty()) out = "0";
  if (most) out += "; at most " + amount_text(metric_unit, *most);
  return out;
}

bool GateConfig::watches(std::string_view metric) const {
  if (metrics.empty())
    return std::find(std::begin(kUngated), std::end(kUngated), metric) == std::end(kUngated);
  return std::any_of(metric_expressions.begin(), metric_expressions.end(),
                     [&](const Pattern& expression) { return expression.matches(metric); });
}

const GateLimit* GateConfig::limit_of(const std::string& module, const std::string& device,
                                      const std::string& metric) const {
  for (const GateLimit& limit : limits)
    if (limit.module.finds(module) && limit.device.finds(device) && limit.metric.matches(metric))
      return &limit;
  return nullptr;
}

std::optional<GateConfig> read_gate_config(const SourcePtr& source, DiagnosticList& problems) {
  return GateConfigReader(problems).read(source);
}

std::string default_baseline(const std::string& config) {
  if (config == "-") return "hlosim-baseline.json";
  return std::filesystem::path(config).stem().generic_string() + "-baseline.json";
}

std::string gate_config_template(const std::string& baseline) {
  return R"(# What `hlosim gate` watches over. Paths are relative to this file.
#
#   hlosim gate --update-baseline    remembers what the modules cost now; commit the baseline
#   hlosim gate                      exit code 1 when something got worse

# HLO text files; * and ? stand for anything within a name.
modules:
  - "*.hlo"

# Built-in devices (`hlosim devices` lists them) or device files.
devices:
  - v5e

# Where the numbers are kept that modules are held against. Without this key: by this file's name.
baseline: )" +
         yaml_text(baseline) +
         R"(

# What is watched: regular expressions for whole names. Without this key: time, exposed_copies,
# exposed_collectives, hbm_bytes, sent_bytes, padding_bytes, flops and peak.<memory space>.
# metrics: [time, "exposed_.*", "peak\\..*"]

# How much a metric may grow. The first entry that fits decides; where none fits, nothing may grow: simulated
# numbers have no noise. `module` is looked for in "file:module", `device` in the device's name, `metric` is a
# whole name. An increase fails that exceeds `relative` or `absolute`, a value that exceeds `most`.
limits: []
#  - {metric: time, relative: 0.5 %}
#  - {metric: hbm_bytes, absolute: 64 KiB}
#  - {module: "train", metric: "peak\\.vmem", most: 100 MiB}

# A module that the baseline doesn't know: pass, warn or fail.
on_new: warn

# A module that the baseline has and nobody asks for any more, or that has another name: pass, warn or fail.
on_gone: fail

# A baseline of another device file, other options or another version of the model: pass, warn or fail. Such
# numbers are never called a regression.
on_incomparable: fail

# Time for trying changes of modules that got slower; the failure has the largest saving (docs/advise.md).
# advise: 10s

# How modules run; as the options of `hlosim report`.
# set: ["memory.hbm.bandwidth=1000 GB/s"]
# xla_flags: ["--xla_tpu_scoped_vmem_limit_kib=65536"]  # that the compiler was given; "@FILE" with them
# topology: 2x2x1
# mesh: "data=2,model=2; w.*=[data,model]"   # partition the modules first, as --mesh and --shard
# slices: 1
# while_trip_count: 1
# custom_call_costs: costs.yaml
# dim: [batch=8]                   # sizes of dynamic dimensions of StableHLO programs
# partial: false                   # modules are texts that were cut off
# lower: true                      # plain modules are lowered as a TPU compiler might do it
)";
}

}  // namespace hlosim
