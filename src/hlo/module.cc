#include "hlo/module.h"

namespace hlosim {

Module::Module() : arena_(std::make_unique<Arena>()), shapes_(std::make_unique<ShapePool>()) {}

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
