#include "text/scatter_svg.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "text/escape.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

constexpr double kWidth = 640, kHeight = 420, kLeft = 90, kTop = 24, kBottom = 56, kRight = 190;
constexpr const char* kColours[] = {"#1b6ca8", "#d1495b", "#2e8b57", "#8d6a9f",
                                    "#e08e0b", "#5c5c5c", "#17a2a2", "#a0522d"};

/// Where values of one axis of the picture lie.
class Scale {
 public:
  void add(double value) {
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  /// Logarithmic from a factor of 8 on. `from_zero`: else the axis begins at 0.
  void finish(bool from_zero) {
    if (low_ > high_) low_ = 0, high_ = 1;
    logarithmic_ = low_ > 0 && high_ / low_ >= 8;
    if (!logarithmic_ && from_zero) low_ = std::min(low_, 0.0), high_ += (high_ - low_) * 0.05;
    if (low_ == high_) low_ -= 0.5, high_ += 0.5;
  }
  double along(double value) const {
    return logarithmic_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  }
  /// Values for about six ticks.
  std::vector<double> ticks() const {
    std::vector<double> values;
    constexpr int kTicks = 5;
    for (int i = 0; i <= kTicks; ++i) {
      const double part = static_cast<double>(i) / kTicks;
      values.push_back(logarithmic_ ? low_ * std::pow(high_ / low_, part) : low_ + (high_ - low_) * part);
    }
    return values;
  }

 private:
  double low_ = std::numeric_limits<double>::max(), high_ = std::numeric_limits<double>::lowest();
  bool logarithmic_ = false;
};

class Picture {
 public:
  explicit Picture(ScatterPlot plot) : plot_(std::move(plot)) {
    for (const ScatterMark& mark : plot_.marks) x_.add(mark.x), y_.add(mark.y);
    x_.finish(plot_.x.from_zero), y_.finish(plot_.y.from_zero);
  }

  std::string draw() {
    print_("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\">\n", kLeft + kWidth + kRight,
           kTop + kHeight + kBottom);
    print_("<style>{}</style>\n", scatter_style());
    print_("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
    draw_axes();
    for (size_t s = 0; s < plot_.series.size(); ++s) draw_series(s);
    print_("</svg>\n");
    return std::move(text_);
  }

 private:
  double x_at(double value) const { return kLeft + 12 + (kWidth - 24) * x_.along(value); }
  double y_at(double value) const { return kTop + kHeight * (1 - y_.along(value)); }

  void draw_axes() {
    const double bottom = kTop + kHeight;
    for (const double tick : y_.ticks()) {
      print_("<path class=\"grid\" d=\"M{} {:.1f}h{}\"/>\n", kLeft, y_at(tick), kWidth);
      print_("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 6, y_at(tick) + 4,
             plot_.y.text ? plot_.y.text(tick) : std::string());
    }
    if (plot_.x.text)
      for (const double tick : x_.ticks()) plot_.x.labels.emplace(tick, plot_.x.text(tick));
    double last = -1e9;
    for (const auto& [value, label] : plot_.x.labels) {
      const double at = x_at(value), half = 3.5 * static_cast<double>(label.size());
      print_("<path class=\"grid\" d=\"M{:.1f} {}V{}\"/>\n", at, kTop, bottom);
      if (at - half < last + 6) continue;
      last = at + half;
      print_("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", at, bottom + 16,
             markup_escaped(label));
    }
    print_("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", kLeft + kWidth / 2, bottom + 40,
           markup_escaped(plot_.x.name));
    print_("<text x=\"{}\" y=\"{}\">{}</text>\n", 8, kTop - 8, markup_escaped(plot_.y.name));
  }

  std::string path_of(size_t series) const {
    std::string path;
    const auto add = [&](double x, double y) {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x_at(x), y_at(y));
    };
    std::map<double, double> least;  // of each x
    for (const ScatterMark& mark : plot_.marks) {
      if (mark.series != series) continue;
      if (plot_.line == ScatterLine::kInOrder) add(mark.x, mark.y);
      const auto [at, is_new] = least.emplace(mark.x, mark.y);
      if (!is_new) at->second = std::min(at->second, mark.y);
    }
    if (plot_.line == ScatterLine::kLeast)
      for (const auto& [x, y] : least) add(x, y);
    return path;
  }

  void draw_series(size_t series) {
    const char* colour = kColours[series % std::size(kColours)];
    if (plot_.line != ScatterLine::kNone)
      print_("<path class=\"line\" stroke=\"{}\" d=\"{}\"/>\n", colour, path_of(series));
    for (const ScatterMark& mark : plot_.marks) {
      if (mark.series != series) continue;
      print_("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"", x_at(mark.x), y_at(mark.y), colour);
      if (mark.title.empty())
        print_("/>\n");
      else
        print_("><title>{}</title></circle>\n", markup_escaped(mark.title));
      if (mark.front)
        print_("<circle class=\"front\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"/>\n", x_at(mark.x), y_at(mark.y));
    }
    if (plot_.series[series].empty()) return;
    const double at = kTop + 14 + 18 * static_cast<double>(series);
    print_("<circle cx=\"{}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>\n", kLeft + kWidth + 20, at - 4, colour);
    print_("<text x=\"{}\" y=\"{:.1f}\">{}</text>\n", kLeft + kWidth + 30, at,
           markup_escaped(plot_.series[series]));
  }

  ScatterPlot plot_;
  Scale x_, y_;
  std::string text_;
  const TextBuilder print_{text_};
};

}  // namespace

std::string_view scatter_style() {
  return "text{font:12px sans-serif;fill:#333}.grid{stroke:#ddd;fill:none}"
         ".line{fill:none;stroke-width:1.5}.front{fill:none;stroke:#333}";
}

std::string scatter_svg(ScatterPlot plot) { return Picture(std::move(plot)).draw(); }

}  // namespace hlosim
