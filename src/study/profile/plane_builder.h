// One plane of an XSpace while it is written: metadata get their numbers as they are first named.
//
//   PlaneBuilder plane(space.add_planes(), "/device:TPU:0");
//   xplane::Event& event = plane.event(line, what, start, duration);
//   plane.set(*event.add_stats(), "run_id", uint64_t{1});
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/units.h"

namespace hlosim {

namespace xplane {
class Event;
class EventMetadata;
class Line;
class Plane;
class Stat;
}  // namespace xplane

class PlaneBuilder {
 public:
  PlaneBuilder(xplane::Plane& plane, std::string_view name);

  xplane::Line& line(int64_t id, std::string_view name);
  /// Numbered on, or with a number of its own.
  xplane::EventMetadata& event_metadata(std::string_view name, int64_t id = 0);
  static xplane::Event& event(xplane::Line& line, int64_t metadata, Picoseconds start, Picoseconds duration);

  // A statistic of the plane, of a kind of event, or of an event.
  void unsigned_number(xplane::Stat& stat, std::string_view name, uint64_t value);
  void number(xplane::Stat& stat, std::string_view name, int64_t value);
  void real(xplane::Stat& stat, std::string_view name, double value);
  void text(xplane::Stat& stat, std::string_view name, std::string_view value);
  void bytes(xplane::Stat& stat, std::string_view name, std::string value);

 private:
  int64_t stat_id(std::string_view name);

  xplane::Plane& plane_;
  std::map<std::string, int64_t, std::less<>> stat_ids_;
  int64_t last_event_ = 0;
};

}  // namespace hlosim
