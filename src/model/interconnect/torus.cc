#include "interconnect/torus.h"

#include <algorithm>
#include <vector>

namespace hlosim {
namespace {

/// Along one axis every device that holds `part` bytes gets those of the others as well.
double line_seconds(const TorusAxis& axis, double part, double link) {
  return static_cast<double>(axis.length - 1) * part / axis.capacity(link);
}

double chips_of(std::span<const TorusAxis> axes) {
  double chips = 1;
  for (const TorusAxis& axis : axes) chips *= static_cast<double>(axis.length);
  return chips;
}

template <class Axes>
double one_after_the_other(const Axes& axes, double part, double link) {
  double seconds = 0;
  for (const TorusAxis& axis : axes) {
    seconds += line_seconds(axis, part, link);
    part *= static_cast<double>(axis.length);
  }
  return seconds;
}

/// In each phase every part takes another axis; the slowest part ends it.
double in_rotation(std::span<const TorusAxis> axes, double part, double link) {
  std::vector<double> parts(axes.size(), part / static_cast<double>(axes.size()));
  double seconds = 0;
  for (size_t phase = 0; phase < axes.size(); ++phase) {
    double slowest = 0;
    for (size_t p = 0; p < axes.size(); ++p) {
      const TorusAxis& axis = axes[(p + phase) % axes.size()];
      slowest = std::max(slowest, line_seconds(axis, parts[p], link));
      parts[p] *= static_cast<double>(axis.length);
    }
    seconds += slowest;
  }
  return seconds;
}

}  // namespace

double gather_seconds(std::span<const TorusAxis> axes, double bytes, double link) {
  if (axes.empty()) return 0;
  return std::min(in_rotation(axes, bytes / chips_of(axes), link), gather_seconds_in_turn(axes, bytes, link));
}

double gather_seconds_in_turn(std::span<const TorusAxis> axes, double bytes, double link) {
  const double part = bytes / chips_of(axes);
  const std::vector<TorusAxis> backwards(axes.rbegin(), axes.rend());
  return std::min(one_after_the_other(axes, part, link), one_after_the_other(backwards, part, link));
}

double all_to_all_seconds(std::span<const TorusAxis> axes, double bytes, double link) {
  double slowest = 0;
  for (const TorusAxis& axis : axes) {
    const auto n = static_cast<double>(axis.length);
    const double crossing = axis.length % 2 == 0 ? 1 : (n * n - 1) / (n * n);
    slowest = std::max(slowest, bytes * n * crossing / (4 * axis.capacity(link)));
  }
  return slowest;
}

double broadcast_seconds(std::span<const TorusAxis> axes, double bytes, double link) {
  double capacity = 0;
  for (const TorusAxis& axis : axes) capacity += axis.capacity(link);
  return capacity > 0 ? bytes / capacity : 0;
}

int64_t diameter(std::span<const TorusAxis> axes) {
  int64_t hops = 0;
  for (const TorusAxis& axis : axes) hops += axis.hops();
  return hops;
}

}  // namespace hlosim
