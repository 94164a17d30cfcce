#include "profile/plane_builder.h"

#include "profile/xplane.pb.h"

namespace hlosim {

PlaneBuilder::PlaneBuilder(xplane::Plane& plane, std::string_view name) : plane_(plane) {
  plane_.set_name(std::string(name));
}

xplane::Line& PlaneBuilder::line(int64_t id, std::string_view name) {
  xplane::Line& line = *plane_.add_lines();
  line.set_id(id);
  line.set_name(std::string(name));
  return line;
}

xplane::EventMetadata& PlaneBuilder::event_metadata(std::string_view name, int64_t id) {
  xplane::EventMetadataEntry& entry = *plane_.add_event_metadata();
  entry.set_key(id != 0 ? id : ++last_event_);
  entry.mutable_value()->set_id(entry.key());
  entry.mutable_value()->set_name(std::string(name));
  return *entry.mutable_value();
}

xplane::Event& PlaneBuilder::event(xplane::Line& line, int64_t metadata, Picoseconds start,
                                   Picoseconds duration) {
  xplane::Event& event = *line.add_events();
  event.set_metadata_id(metadata);
  event.set_offset_ps(start.count());
  event.set_duration_ps(duration.count());
  return event;
}

int64_t PlaneBuilder::stat_id(std::string_view name) {
  if (const auto found = stat_ids_.find(name); found != stat_ids_.end()) return found->second;
  const auto id = static_cast<int64_t>(stat_ids_.size()) + 1;
  stat_ids_.emplace(name, id);
  xplane::StatMetadataEntry& entry = *plane_.add_stat_metadata();
  entry.set_key(id);
  entry.mutable_value()->set_id(id);
  entry.mutable_value()->set_name(std::string(name));
  return id;
}

void PlaneBuilder::unsigned_number(xplane::Stat& stat, std::string_view name, uint64_t value) {
  stat.set_metadata_id(stat_id(name));
  stat.set_uint64_value(value);
}

void PlaneBuilder::number(xplane::Stat& stat, std::string_view name, int64_t value) {
  stat.set_metadata_id(stat_id(name));
  stat.set_int64_value(value);
}

void PlaneBuilder::real(xplane::Stat& stat, std::string_view name, double value) {
  stat.set_metadata_id(stat_id(name));
  stat.set_double_value(value);
}

void PlaneBuilder::text(xplane::Stat& stat, std::string_view name, std::string_view value) {
  stat.set_metadata_id(stat_id(name));
  stat.set_str_value(std::string(value));
}

void PlaneBuilder::bytes(xplane::Stat& stat, std::string_view name, std::string value) {
  stat.set_metadata_id(stat_id(name));
  stat.set_bytes_value(std::move(value));
}

}  // namespace hlosim
