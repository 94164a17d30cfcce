#include "study/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "base/text.h"
#include "flags/xla_flags.h"
#include "input/hlo_file.h"
#include "model/device_overrides.h"
#include "stablehlo/dimension_sizes.h"
#include "study/file_patterns.h"
#include "study/sweep_point.h"
#include "text/entry_fields.h"

namespace hlosim {
namespace {

constexpr int64_t kMostValues = 100'000;  // of one axis
constexpr size_t kCheckedValues = 64;     // of one axis, about: what is right in many places is right between

class ExperimentReader {
 public:
  ExperimentReader(const DeviceSearch& search, DiagnosticList& problems, std::span<const SweepModule> at_hand)
      : search_(search), problems_(problems), at_hand_(at_hand) {}

  std::optional<Experiment> read(const SourcePtr& source) {
    const std::optional<Value> top = parse_yaml(source, problems_);
    if (!top) return std::nullopt;
    if (!top->is_map()) {
      problems_.add(
          error_at(*top, fmt::format("expects an experiment, a section with modules and devices, but is {}",
                                     described(*top))));
      return std::nullopt;
    }
    const std::filesystem::path path = source->name();
    folder_ = path.parent_path();
    experiment_.name = path.stem().string();
    read_sections(*top);
    if (problems_.has_errors()) return std::nullopt;
    if (experiment_.size() > kMostPoints) {
      problems_.add(error_at(
          *top, fmt::format("{} combinations, at most {} are possible", experiment_.size(), kMostPoints)));
      return std::nullopt;
    }
    finish_defaults();
    return std::move(experiment_);
  }

 private:
  void error(const Value& value, std::string message, std::string hint = {}) {
    problems_.add(error_at(value, std::move(message), std::move(hint)));
  }
  static std::string hint_of(std::string_view word, const std::vector<std::string>& names) {
    return did_you_mean(word, std::vector<std::string_view>(names.begin(), names.end()));
  }

  void read_sections(const Value& top) {
    EntryFields fields(top, "an experiment", problems_);
    fields.pass_over(
        {"modules", "devices", "xla_flags", "set", "knobs", "text", "dim", "objectives", "columns", "plot"});
    fields.text("name", experiment_.name);
    fields.flag("partial", experiment_.load.partial);
    fields.refuse_rest();
    for (const char* needed : {"modules", "devices"})
      if (!top.find(needed)) problems_.add(error_at(top, fmt::format("an experiment needs {}", needed)));
    const auto read = [&](std::string_view key, void (ExperimentReader::*reader)(const Value&)) {
      if (const Value* value = top.find(key)) (this->*reader)(*value);
    };
    read("modules", &ExperimentReader::read_modules);
    read("dim", &ExperimentReader::read_dimensions);
    read("devices", &ExperimentReader::read_devices);
    read("xla_flags", &ExperimentReader::read_flags);
    for (const Value& item : top.items) {  // axes in the order of the text
      if (item.key == "set") read_axes_of(item, SweepAxis::Kind::kSet);
      if (item.key == "knobs") read_axes_of(item, SweepAxis::Kind::kKnob);
      if (item.key == "text") read_axes_of(item, SweepAxis::Kind::kText);
    }
    check_set_values();
    read("objectives", &ExperimentReader::read_objectives);
    read("columns", &ExperimentReader::read_columns);
    read("plot", &ExperimentReader::read_plot);
  }

  /// Calls f for each text of a list, or for the one there is.
  template <class F>
  void for_each_text(const Value& value, F&& f) {
    const std::span<const Value> items = value.is_list() ? std::span(value.items) : std::span(&value, 1);
    if (items.empty()) error(value, "expects at least one value");
    for (const Value& item : items) {
      if (item.is_scalar())
        f(item);
      else
        error(item, fmt::format("expects a text, but is {}", described(item)));
    }
  }

  // ── modules and devices ──

  void read_modules(const Value& value) {
    for_each_text(value, [&](const Value& item) {
      const auto given = std::ranges::find(at_hand_, item.text, &SweepModule::name);
      if (given != at_hand_.end()) return experiment_.modules.push_back(*given);
      const std::vector<std::string> files = files_that_fit(folder_, item.text);
      if (files.empty()) return error(item, fmt::format("no file matches \"{}\"", shown(item.text, 200)));
      for (const std::string& name : files) {
        const std::string file = (folder_ / name).string();  // an absolute path stays as it is
        Result<SourcePtr> source = read_text_source(file);
        if (!source) return error(item, source.error().message, source.error().hint);
        experiment_.modules.push_back({module_name(file), std::move(*source)});
      }
    });
  }

  void read_dimensions(const Value& value) {
    for_each_text(value, [&](const Value& item) {
      const auto sizes = stablehlo::parse_dimensions(item.text);
      if (!sizes) return error(item, sizes.error().message, sizes.error().hint);
      std::vector<stablehlo::DimensionSize>& all = experiment_.load.mlir.dimensions;
      all.insert(all.end(), sizes->begin(), sizes->end());
    });
  }

  /// The file's name, with folders as far as another one is called the same.
  std::string module_name(const std::string& file) const {
    const std::filesystem::path path = file;
    const std::string name = path.stem().string();
    const bool taken = std::any_of(experiment_.modules.begin(), experiment_.modules.end(),
                                   [&](const SweepModule& module) { return module.name == name; });
    return taken ? file : name;
  }

  void read_devices(const Value& value) {
    for_each_text(value, [&](const Value& item) {
      std::string name = item.text;
      const std::filesystem::path beside = folder_ / name;
      std::error_code ignored;
      if (name.find('.') != std::string::npos && std::filesystem::is_regular_file(beside, ignored))
        name = beside.string();
      DiagnosticList found;
      if (std::optional<Device> device = load_device(name, {}, search_, found)) {
        experiment_.devices.push_back({name, std::move(*device)});
        return;
      }
      for (const Diagnostic& problem : found.items())
        if (problem.source)
          problems_.add(problem);
        else
          error(item, problem.message, problem.hint);
    });
  }

  /// What the compiler was given, on every device alike; keys in `set` come after.
  void read_flags(const Value& value) {
    std::vector<XlaFlag> flags;
    for_each_text(value, [&](const Value& item) {
      DiagnosticList found;
      const auto source = std::make_shared<const SourceFile>("xla_flags", item.text);
      const std::vector<XlaFlag> more = read_xla_flags(source, found);
      flags.insert(flags.end(), more.begin(), more.end());
      add_all(found, item);
    });
    for (SweepDevice& one : experiment_.devices) {
      DiagnosticList found;
      const auto overrides = xla_flag_overrides(flags, one.device.config, found);
      std::optional<Device> with = with_overrides(one.device, overrides, found);
      if (with) one.device = std::move(*with);
      add_all(found, value);
    }
  }
  /// Problems of a text in the experiment, at their place in it.
  void add_all(const DiagnosticList& found, const Value& place) {
    for (const Diagnostic& problem : found.items()) {
      Diagnostic placed = error_at(place, problem.message, problem.hint);
      placed.severity = problem.severity;
      problems_.add(std::move(placed));
    }
  }

  // ── axes ──

  void read_axes_of(const Value& section, SweepAxis::Kind kind) {
    if (!section.is_map())
      return error(section,
                   fmt::format("expects a section of names and values, but is {}", described(section)));
    for (const Value& item : section.items) {
      SweepAxis axis{kind, item.key, {}};
      std::vector<const Value*> places;
      const auto add = [&](const Value& at, const std::string& text) {
        check_value(axis, at, text);
        axis.values.push_back(text);
        places.push_back(&at);
      };
      if (item.is_map())
        read_range(item, add);
      else
        for_each_text(item, [&](const Value& one) { add(one, one.text); });
      const bool known = std::any_of(experiment_.axes.begin(), experiment_.axes.end(),
                                     [&](const SweepAxis& other) { return other.name == axis.name; });
      if (known || axis.name == "module" || axis.name == "device" || metric_index(axis.name) >= 0)
        problems_.add(
            error_at_key(item, fmt::format("\"{}\" already names something else", shown(axis.name))));
      if (axis.values.empty()) continue;
      experiment_.axes.push_back(std::move(axis));
      places_.push_back(std::move(places));
    }
  }

  /// A value has to fit by itself, or beside the first or the last values of the other keys.
  void check_set_values() {
    for (size_t i = 0; i < experiment_.axes.size(); ++i) {
      const std::vector<std::string>& values = experiment_.axes[i].values;
      if (experiment_.axes[i].kind != SweepAxis::Kind::kSet) continue;
      const size_t stride = std::max<size_t>(1, values.size() / kCheckedValues);
      for (size_t k = 0; k < values.size() && !problems_.full(); ++k)
        if (k % stride == 0 || k + 1 == values.size()) check_set_value(i, values[k], *places_[i][k]);
    }
  }
  void check_set_value(size_t axis, const std::string& value, const Value& place) {
    const DeviceOverride own{experiment_.axes[axis].name, value};
    for (const SweepDevice& one : experiment_.devices) {
      DiagnosticList alone, with_others;
      if (with_overrides(one.device, std::span(&own, 1), alone) ||
          with_overrides(one.device, beside(axis, own, true), with_others) ||
          with_overrides(one.device, beside(axis, own, false), with_others))
        continue;
      for (const Diagnostic& problem : alone.items())
        if (problem.severity == Severity::kError)
          return error(place, fmt::format("{} of {}: {}", own.path, one.name, problem.message), problem.hint);
    }
  }
  std::vector<DeviceOverride> beside(size_t axis, const DeviceOverride& own, bool first) const {
    std::vector<DeviceOverride> overrides;
    for (size_t i = 0; i < experiment_.axes.size(); ++i) {
      const SweepAxis& other = experiment_.axes[i];
      if (other.kind != SweepAxis::Kind::kSet) continue;
      overrides.push_back(
          i == axis ? own : DeviceOverride{other.name, first ? other.values.front() : other.values.back()});
    }
    return overrides;
  }

  /// Told at the value, rather than for thousands of points.
  void check_value(const SweepAxis& axis, const Value& at, const std::string& text) {
    if (problems_.full()) return;
    if (axis.kind == SweepAxis::Kind::kKnob) {
      if (const auto set = check_sweep_knob(axis.name, text); !set)
        error(at, fmt::format("{}: {}", axis.name, set.error().message), set.error().hint);
    } else if (axis.kind == SweepAxis::Kind::kText) {
      const std::string mention = "${" + axis.name + "}";
      const bool used =
          std::any_of(experiment_.modules.begin(), experiment_.modules.end(), [&](const SweepModule& module) {
            return module.source->text().find(mention) != std::string_view::npos;
          });
      if (!used && axis.values.empty()) error(at, fmt::format("no module holds {}", mention));
    }
  }

  struct Number {
    double value = 0;
    std::string unit;
  };
  static std::optional<Number> read_number(std::string_view text) {
    Number number;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number.value);
    if (error != std::errc()) return std::nullopt;
    number.unit = text.substr(static_cast<size_t>(end - text.data()));
    return number;
  }

  /// {from: 1 MiB, to: 8 MiB, step: 1 MiB} or {from: 1, to: 64, times: 2}; `to` belongs to it.
  template <class F>
  void read_range(const Value& range, F&& add) {
    const Value* parts[4] = {};
    constexpr std::string_view kParts[] = {"from", "to", "step", "times"};
    for (const Value& item : range.items) {
      const auto* part = std::find(std::begin(kParts), std::end(kParts), item.key);
      if (part == std::end(kParts) || !item.is_scalar()) {
        problems_.add(error_at_key(item, fmt::format("a range has no \"{}\"", shown(item.key)),
                                   "a range is {from: 1, to: 8, step: 1} or {from: 1, to: 64, times: 2}"));
        return;
      }
      parts[part - std::begin(kParts)] = &item;
    }
    if (!parts[0] || !parts[1] || !parts[2] == !parts[3])
      return error(range, "a range needs from, to, and either step or times");
    const auto from = read_number(parts[0]->text), to = read_number(parts[1]->text);
    const Value& by = parts[2] ? *parts[2] : *parts[3];
    const auto step = read_number(by.text);
    if (!from) return error(*parts[0], "expects a number");
    if (!to || to->unit != from->unit)
      return error(*parts[1], fmt::format("expects a number in the unit of from, as in \"8{}\"", from->unit));
    if (!step || (parts[2] ? step->unit != from->unit : !step->unit.empty()))
      return error(by, parts[2]
                           ? fmt::format("expects a number in the unit of from, as in \"1{}\"", from->unit)
                           : "expects a number without unit");
    const bool grows = parts[2] ? step->value > 0 : step->value > 1 && from->value > 0;
    if (!grows)
      return error(by, parts[2] ? "expects a step above 0" : "expects a factor above 1, and from above 0");
    const double last = to->value * (1 + 1e-12) + (parts[2] ? step->value * 1e-9 : 0);
    int64_t count = 0;
    double value = from->value;
    for (; value <= last && count < kMostValues; ++count) {
      add(range, fmt::format("{}{}", std::abs(value) < 1e15 ? rounded(value) : value, from->unit));
      value = parts[2] ? from->value + step->value * static_cast<double>(count + 1) : value * step->value;
    }
    if (count == 0) error(range, "a range without values: to is below from");
    if (value <= last) error(range, fmt::format("more than {} values", kMostValues));
  }
  /// 0.30000000000000004 is 0.3.
  static double rounded(double value) {
    double result = value;
    const std::string text = fmt::format("{:.12g}", value);
    std::from_chars(text.data(), text.data() + text.size(), result);
    return result;
  }

  // ── what is shown ──

  std::vector<std::string> numeric_names() const {
    std::vector<std::string> names;
    for (const SweepMetric& metric : sweep_metrics()) names.emplace_back(metric.name);
    for (const SweepAxis& axis : experiment_.axes)
      if (std::all_of(axis.values.begin(), axis.values.end(),
                      [](const auto& v) { return number_of(v).has_value(); }))
        names.push_back(axis.name);
    return names;
  }

  void read_objectives(const Value& value) {
    for_each_text(value, [&](const Value& item) {
      Objective objective{item.text, false};
      for (const std::string_view word : {"max ", "min "})
        if (std::string_view(item.text).starts_with(word)) {
          objective.name = item.text.substr(4);
          objective.maximise = word == "max ";
        }
      const std::vector<std::string> names = numeric_names();
      if (std::find(names.begin(), names.end(), objective.name) == names.end())
        return error(item,
                     fmt::format("\"{}\" is neither a metric nor an axis of numbers", shown(objective.name)),
                     hint_of(objective.name, names));
      experiment_.objectives.push_back(std::move(objective));
    });
  }

  void read_columns(const Value& value) {
    for_each_text(value, [&](const Value& item) {
      std::vector<std::string> names;
      for (const SweepMetric& metric : sweep_metrics()) names.emplace_back(metric.name);
      if (metric_index(item.text) < 0)
        return error(item, fmt::format("unknown metric \"{}\"", shown(item.text)), hint_of(item.text, names));
      experiment_.columns.push_back(item.text);
    });
  }

  void read_plot(const Value& value) {
    if (!value.is_map())
      return error(value, fmt::format("expects a section with x and y, but is {}", described(value)));
    std::vector<std::string> names = {"module", "device"};
    for (const SweepMetric& metric : sweep_metrics()) names.emplace_back(metric.name);
    for (const SweepAxis& axis : experiment_.axes) names.push_back(axis.name);
    for (const Value& item : value.items) {
      std::string* place = item.key == "x"        ? &experiment_.plot.x
                           : item.key == "y"      ? &experiment_.plot.y
                           : item.key == "series" ? &experiment_.plot.series
                                                  : nullptr;
      if (!place) {
        problems_.add(
            error_at_key(item, fmt::format("a plot has no \"{}\"", shown(item.key)), "x, y and series"));
      } else if (!item.is_scalar() || std::find(names.begin(), names.end(), item.text) == names.end()) {
        error(item, fmt::format("{} is neither an axis nor a metric", described(item)),
              hint_of(item.text, names));
      } else if (place == &experiment_.plot.y && metric_index(item.text) < 0) {
        error(item, fmt::format("y is a metric, but {} is none", described(item)));
      } else if (place == &experiment_.plot.series && metric_index(item.text) >= 0) {
        error(item, fmt::format("a series is made of an axis, but {} is a metric", described(item)));
      } else {
        *place = item.text;
      }
    }
  }

  void finish_defaults() {
    if (experiment_.objectives.empty()) experiment_.objectives.push_back({"time", false});
    if (experiment_.columns.empty())
      experiment_.columns = {"time", "exposed", "hbm_bytes", "hbm_peak", "vmem_peak"};
    Experiment::Plot& plot = experiment_.plot;
    if (plot.y.empty())
      plot.y = metric_index(experiment_.objectives[0].name) >= 0 ? experiment_.objectives[0].name : "time";
    if (plot.x.empty()) {
      plot.x = experiment_.devices.size() > 1 ? "device" : "module";
      for (auto axis = experiment_.axes.rbegin(); axis != experiment_.axes.rend(); ++axis)
        if (axis->values.size() > 1) plot.x = axis->name;
    }
    if (plot.series.empty()) {
      for (auto axis = experiment_.axes.rbegin(); axis != experiment_.axes.rend(); ++axis)
        if (axis->values.size() > 1 && axis->name != plot.x) plot.series = axis->name;
      if (experiment_.devices.size() > 1 && plot.x != "device") plot.series = "device";
      if (experiment_.modules.size() > 1 && plot.x != "module") plot.series = "module";
    }
  }

  const DeviceSearch& search_;
  DiagnosticList& problems_;
  std::span<const SweepModule> at_hand_;
  std::filesystem::path folder_;
  std::vector<std::vector<const Value*>> places_;  // of each axis' values
  Experiment experiment_;
};

}  // namespace

std::optional<Experiment> read_experiment(const SourcePtr& source, const DeviceSearch& search,
                                          DiagnosticList& problems, std::span<const SweepModule> at_hand) {
  return ExperimentReader(search, problems, at_hand).read(source);
}

}  // namespace hlosim
