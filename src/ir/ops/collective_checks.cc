#include "ops/collective_checks.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/saturating.h"
#include "hlo/replica_groups.h"
#include "ops/collective_groups.h"
#include "ops/require.h"

namespace hlosim {
namespace {

/// Which of 0..count-1 have been named; on the stack up to 1024 ids.
class IdSet {
 public:
  explicit IdSet(int64_t count) {
    if (count > 1024) more_ = std::make_unique<uint64_t[]>(static_cast<size_t>(count + 63) / 64);
  }
  bool insert(int64_t id) {
    // In two steps: g++ 12 indexes a choice of pointer and array wrong with -fsanitize=undefined.
    uint64_t* const words = more_ ? more_.get() : words_;
    uint64_t& word = words[id / 64];
    const uint64_t bit = uint64_t{1} << (id % 64);
    const bool is_new = (word & bit) == 0;
    word |= bit;
    return is_new;
  }

 private:
  uint64_t words_[16] = {};
  std::unique_ptr<uint64_t[]> more_;
};

/// Ids 0..total-1, each once; `groups` is a list of lists.
template <class Groups>
bool require_each_once(OpContext& op, const Groups& groups, int64_t total) {
  IdSet seen(total);
  for (const auto& group : groups) {
    if (group.empty()) {
      op.error(0, "replica_groups holds an empty group");
      return false;
    }
    for (const int64_t id : group) {
      if (id < 0 || id >= total) {
        op.error(0, "replica_groups names id {}, expected the {} ids from 0 to {}", id, total, total - 1);
        return false;
      }
      if (!seen.insert(id)) {
        op.error(0, "replica_groups repeats id {}, expected each id once", id);
        return false;
      }
    }
  }
  return true;
}

bool require_declared_total(OpContext& op, GroupMode mode, int64_t total) {
  const DeviceGrid grid = declared_grid(op.module());
  const int64_t expected = mode == GroupMode::kCrossPartition ? grid.partitions
                           : mode == GroupMode::kFlattened
                               ? saturating_multiply(grid.replicas, grid.partitions)
                               : grid.replicas;
  if (expected == 1 || expected == total) return true;
  op.error(0, "replica_groups names {} ids, expected {} in {} mode (replica_count={}, num_partitions={})",
           total, expected, to_text(mode), grid.replicas, grid.partitions);
  return false;
}

bool is_offset(ShapeRef shape) { return shape->is_array() && is_integer(shape->element_type); }

/// One offset per dimension of `buffer`, or a tuple of such tuples.
bool require_offsets(OpContext& op, ShapeRef buffer, ShapeRef offsets) {
  const auto offsets_fit = [&](ShapeRef tuple) {
    return std::all_of(tuple->elements.begin(), tuple->elements.end(), is_offset) &&
           (!buffer->is_array() || static_cast<int64_t>(tuple->elements.size()) == buffer->rank());
  };
  bool fits = offsets->is_tuple();
  if (fits) {
    const auto& elements = offsets->elements;
    const bool tuples =
        std::all_of(elements.begin(), elements.end(), [](ShapeRef s) { return s->is_tuple(); });
    fits = (tuples && !elements.empty()) ? std::all_of(elements.begin(), elements.end(), offsets_fit)
                                         : offsets_fit(offsets);
  }
  if (!fits)
    op.error(0, "offsets {} do not fit the buffer {}, expected an integer per dimension", text_of(offsets),
             text_of(buffer));
  return fits;
}

bool require_in_place_operands(OpContext& op) {
  for (int64_t i = 0; i < 2; ++i) {
    const ShapeRef buffer = op.operand_shape(i), offsets = op.operand_shape(i + 2);
    if (buffer->kind != op.operand_shape(0)->kind || (!buffer->is_array() && !buffer->is_tuple()) ||
        (buffer->is_tuple() && buffer->elements.size() != op.operand_shape(0)->elements.size())) {
      op.error(0, "input {} and output {} do not match", text_of(op.operand_shape(0)),
               text_of(op.operand_shape(1)));
      return false;
    }
    if (buffer->is_array()) {
      if (!require_offsets(op, buffer, offsets)) return false;
      continue;
    }
    if (!offsets->is_tuple() || offsets->elements.size() != buffer->elements.size()) {
      op.error(0, "offsets {} do not fit the buffers {}, expected a tuple of offsets for each",
               text_of(offsets), text_of(buffer));
      return false;
    }
    for (size_t part = 0; part < buffer->elements.size(); ++part)
      if (!require_offsets(op, buffer->elements[part], offsets->elements[part])) return false;
  }
  return true;
}

/// How often an id may be a source: once for each slice that goes out of one buffer.
size_t transfers_per_id(const OpContext& op) {
  if (!op.has(AttrKey::kSliceSizes)) return 1;
  const ShapeRef offsets = op.operand_shape(2);
  if (op.operand_shape(0)->is_array()) return std::max<size_t>(offsets->elements.size(), 1);
  return offsets->elements.empty() ? 1 : std::max<size_t>(offsets->elements[0]->elements.size(), 1);
}

}  // namespace

int64_t declared_group_size(const OpContext& op) {
  const auto mode = group_mode(op);
  if (!mode) return 1;
  if (const Attr* attr = op.find(AttrKey::kReplicaGroups)) {
    const auto counts = count_replica_groups(attr->replica_groups());
    if (!counts || (counts->groups > 0 && counts->members == 0)) return 1;
    if (counts->groups == 0 && *mode == GroupMode::kFlattened) return 1;
  }
  return group_size(op, *mode, declared_grid(op.module()));
}

bool require_groups(OpContext& op, GroupSizes sizes) {
  const auto mode = group_mode(op);
  if (!mode) return op.error(0, "use_global_device_ids=true needs a channel_id"), false;
  const Attr* attr = op.find(AttrKey::kReplicaGroups);
  static constexpr ReplicaGroups kEverybody{};
  const ReplicaGroups& groups = attr ? attr->replica_groups() : kEverybody;
  const auto counts = count_replica_groups(groups);
  if (!counts) return op.error(0, "replica_groups: {}", counts.error().message), false;
  if (counts->groups == 0) {
    if (*mode == GroupMode::kFlattened)
      op.error(0, "flattened mode (channel_id, use_global_device_ids=true) needs replica_groups");
    return *mode != GroupMode::kFlattened;
  }
  if (groups.form == ReplicaGroups::Form::kList && !require_each_once(op, groups.groups, counts->total))
    return false;
  if (groups.form == ReplicaGroups::Form::kMesh &&
      !require_each_once(op, *list_replica_groups(groups, 0), counts->total))
    return false;
  if (!require_declared_total(op, *mode, counts->total)) return false;
  if (sizes == GroupSizes::kUniform && !counts->uniform)
    op.error(0, "replica_groups holds groups of different sizes, expected one size");
  return sizes == GroupSizes::kAny || counts->uniform;
}

void check_channel(OpContext& op) {
  if (op.has(AttrKey::kChannelId) && op.integer(AttrKey::kChannelId) <= 0)
    op.error(0, "channel_id={}, expected a positive number", op.integer(AttrKey::kChannelId));
}

void check_all_reduce_syntax(OpContext& op) {
  if (op.flag(AttrKey::kUseGlobalDeviceIds) && !op.has(AttrKey::kChannelId))
    op.error(0, "use_global_device_ids=true needs a channel_id");
}

void check_permute_syntax(OpContext& op) {
  if (op.has(AttrKey::kSliceSizes) && op.operand_count() != 4)
    op.error(0, "has {} operands, expected 4 with slice_sizes: input, output and their offsets",
             op.operand_count());
}

void check_permute(OpContext& op) {
  if (op.has(AttrKey::kSliceSizes) && !require_in_place_operands(op)) return;
  const DeviceGrid grid = declared_grid(op.module());
  const int64_t limit = op.has(AttrKey::kChannelId) ? grid.partitions : grid.replicas;
  const size_t most = transfers_per_id(op);
  const auto pairs = op.int_lists(AttrKey::kSourceTargetPairs);
  std::unordered_map<int64_t, size_t> counts[2];
  constexpr std::string_view kEnd[] = {"source", "target"};
  for (const auto pair : pairs) {
    for (size_t end = 0; end < 2; ++end) {
      const int64_t id = pair[end];
      if (id < 0 || (limit != 1 && id >= limit)) {
        op.error(0, "{} {} of source_target_pairs, expected an id below {}", kEnd[end], id,
                 limit == 1 ? "the number of devices" : std::to_string(limit));
        return;
      }
      if (++counts[end][id] <= most) continue;
      op.error(0, "{} {} appears more than {} in source_target_pairs", kEnd[end], id,
               most == 1 ? "once" : std::to_string(most) + " times");
      return;
    }
  }
}

}  // namespace hlosim
