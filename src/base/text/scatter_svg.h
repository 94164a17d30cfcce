// A picture of points in two axes (SVG), in series of one colour each.
//
//   ScatterPlot plot;
//   plot.x.name = "tok/s/user", plot.y.name = "tok/s/chip";
//   plot.marks.push_back({.x = 40, .y = 1200, .front = true});
//   const std::string svg = scatter_svg(std::move(plot));
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hlosim {

struct ScatterMark {
  double x = 0, y = 0;
  size_t series = 0;    // index into ScatterPlot::series
  bool front = false;   // drawn with a ring
  std::string title{};  // shown by browsers that point at it
};

/// An axis is logarithmic where its values differ by a factor of 8 and more.
struct ScatterAxis {
  std::string name;
  std::function<std::string(double)> text;  // of a tick; none: only `labels` are shown
  std::map<double, std::string> labels{};
  bool from_zero = false;  // unless logarithmic
};

enum class ScatterLine : uint8_t {
  kNone,
  kLeast,    // through the lowest mark of each x
  kInOrder,  // through the marks of a series as they are listed
};

struct ScatterPlot {
  ScatterAxis x, y;
  std::vector<std::string> series{""};  // legend; an empty one has none
  std::vector<ScatterMark> marks{};
  ScatterLine line = ScatterLine::kNone;
};

/// Ends in '\n'. It has one style element, with the text of scatter_style(), and no style attributes.
std::string scatter_svg(ScatterPlot plot);
/// For pages that allow styles by their hashes.
std::string_view scatter_style();

}  // namespace hlosim
