#include "study/sweep.h"

#include <charconv>
#include <cmath>

#include "base/saturating.h"

namespace hlosim {

int64_t Experiment::size() const {
  int64_t size =
      saturating_multiply(static_cast<int64_t>(modules.size()), static_cast<int64_t>(devices.size()));
  for (const SweepAxis& axis : axes)
    size = saturating_multiply(size, static_cast<int64_t>(axis.values.size()));
  return size;
}

SweepPoint point_at(const Experiment& experiment, int64_t index) {
  SweepPoint point;
  point.values.resize(experiment.axes.size());
  auto left = static_cast<size_t>(index);
  const auto take = [&](size_t count) {
    const size_t at = left % count;
    left /= count;
    return at;
  };
  for (size_t i = experiment.axes.size(); i-- > 0;) point.values[i] = take(experiment.axes[i].values.size());
  point.device = take(experiment.devices.size());
  point.module = take(experiment.modules.size());
  return point;
}

std::string_view value_at(const Experiment& experiment, const SweepPoint& point, size_t axis) {
  return experiment.axes[axis].values[point.values[axis]];
}

std::optional<std::string> setting(const Experiment& experiment, const SweepPoint& point,
                                   std::string_view column) {
  if (column == "module") return experiment.modules[point.module].name;
  if (column == "device") return experiment.devices[point.device].name;
  for (size_t i = 0; i < experiment.axes.size(); ++i)
    if (experiment.axes[i].name == column) return std::string(value_at(experiment, point, i));
  return std::nullopt;
}

std::optional<double> number_of(std::string_view text) {
  if (text == "true") return 1;
  if (text == "false") return 0;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  constexpr struct {
    std::string_view prefix;
    double factor;
  } kPrefixes[] = {{"Ki", 1024.0},       {"Mi", 1048576.0},
                   {"Gi", 1073741824.0}, {"Ti", 1099511627776.0},
                   {"k", 1e3},           {"K", 1e3},
                   {"M", 1e6},           {"G", 1e9},
                   {"T", 1e12},          {"m", 1e-3},
                   {"u", 1e-6},          {"n", 1e-9},
                   {"p", 1e-12},         {"", 1}};
  constexpr std::string_view kUnits[] = {"", "B", "B/s", "Hz", "s", "cycles", "bit"};
  for (const auto& prefix : kPrefixes)
    if (unit.starts_with(prefix.prefix))
      for (const std::string_view base : kUnits)
        if (unit.substr(prefix.prefix.size()) == base && !(base.empty() && !prefix.prefix.empty()))
          return value * prefix.factor;
  return std::nullopt;
}

}  // namespace hlosim
