#include <algorithm>
#include <map>

#include "study/sweep_table.h"
#include "text/scatter_svg.h"

namespace hlosim {
namespace {

/// The points of a sweep as marks.
class SweepPlot {
 public:
  explicit SweepPlot(const SweepTable& table) : table_(table), experiment_(table.experiment) {}

  ScatterPlot plot() {
    const int x_metric = metric_index(experiment_.plot.x), y_metric = metric_index(experiment_.plot.y);
    const auto text_of = [](int metric) {
      return [metric](double value) { return metric_text(metric, value); };
    };
    plot_.series.clear();
    collect(y_metric);
    plot_.x.name = experiment_.plot.x, plot_.y.name = experiment_.plot.y;
    plot_.y.text = text_of(y_metric), plot_.y.from_zero = true;
    if (x_metric >= 0) plot_.x.text = text_of(x_metric);
    plot_.line = x_metric < 0 ? ScatterLine::kLeast : ScatterLine::kNone;
    return std::move(plot_);
  }

 private:
  void collect(int y_metric) {
    for (size_t i = 0; i < table_.results.size(); ++i) {
      const SweepResult& result = table_.results[i];
      if (!result.ok()) continue;
      const SweepPoint point = point_at(experiment_, static_cast<int64_t>(i));
      ScatterMark mark;
      mark.x = place(point, result);
      mark.y = result.values[static_cast<size_t>(y_metric)];
      mark.series = series_of(setting(experiment_, point, experiment_.plot.series).value_or(""));
      mark.front = table_.front[i];
      plot_.marks.push_back(std::move(mark));
    }
  }

  size_t series_of(const std::string& value) {
    const std::string name =
        value.empty() ? std::string() : fmt::format("{} = {}", experiment_.plot.series, value);
    const auto found = std::find(plot_.series.begin(), plot_.series.end(), name);
    const auto at = static_cast<size_t>(found - plot_.series.begin());
    if (found == plot_.series.end()) plot_.series.push_back(name);
    return at;
  }

  /// A metric, a number, or the place of a word among the others.
  double place(const SweepPoint& point, const SweepResult& result) {
    if (const int metric = metric_index(experiment_.plot.x); metric >= 0)
      return result.values[static_cast<size_t>(metric)];
    const std::string text = *setting(experiment_, point, experiment_.plot.x);
    double value = 0;
    if (all_numbers()) {
      value = *number_of(text);
    } else {
      const auto found = std::find(words_.begin(), words_.end(), text);
      value = static_cast<double>(found - words_.begin());
      if (found == words_.end()) words_.push_back(text);
    }
    plot_.x.labels.emplace(value, text);
    return value;
  }
  bool all_numbers() const {
    for (const SweepAxis& axis : experiment_.axes)
      if (axis.name == experiment_.plot.x)
        return std::all_of(axis.values.begin(), axis.values.end(), [](const auto& v) {
          return v != "true" && v != "false" && number_of(v).has_value();
        });
    return false;
  }

  const SweepTable& table_;
  const Experiment& experiment_;
  ScatterPlot plot_;
  std::vector<std::string> words_;
};

}  // namespace

std::string sweep_svg(const SweepTable& table) { return scatter_svg(SweepPlot(table).plot()); }

}  // namespace hlosim
