#include "hlo/module.h"

namespace hlosim {

Module::Module() : arena_(std::make_unique<Arena>()), shapes_(std::make_unique<ShapePool>()) {}

Module Module::copy() const {
  Module made;
  made.name = name;
  made.source = source;
  made.instructions = instructions;
  made.computations = computations;
  made.entry = entry;
  made.attrs = attrs;
  made.stack_frames = stack_frames;
  *made.arena_ = arena_->branch();
  *made.shapes_ = shapes_->copy();
  return made;
}

bool Module::is_scheduled() const {
  const Attr* attr = find(AttrKey::kIsScheduled);
  return attr && attr->flag();
}

int64_t Module::replica_count() const {
  const Attr* attr = find(AttrKey::kReplicaCount);
  return attr ? attr->integer() : 1;
}

int64_t Module::num_partitions() const {
  const Attr* attr = find(AttrKey::kNumPartitions);
  return attr ? attr->integer() : 1;
}

}  // namespace hlosim
