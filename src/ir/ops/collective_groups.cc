#include "ops/collective_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/rounding.h"
#include "base/saturating.h"
#include "hlo/replica_groups.h"
#include "ops/infer.h"

namespace hlosim {
namespace {

constexpr int64_t kMostDevices = int64_t{1} << 24;

bool knows_attr(const OpDef& def, AttrKey key) {
  return std::any_of(def.attrs.begin(), def.attrs.end(),
                     [&](const AttrSpec& spec) { return spec.key == key; });
}

/// Devices in no group of a broadcast get zeros; all other collectives have every device in some group.
bool may_leave_out(const OpDef& def) { return knows_attr(def, AttrKey::kHasDynamicRoot); }

const ReplicaGroups& groups_of(const OpContext& op) {
  static constexpr ReplicaGroups kEverybody{};
  const Attr* attr = op.find(AttrKey::kReplicaGroups);
  return attr ? attr->replica_groups() : kEverybody;
}

tl::unexpected<Diagnostic> failure_at(const OpContext& op, std::string message) {
  Diagnostic diagnostic;
  diagnostic.message = fmt::format("{}: {}", to_text(op.instruction().opcode), message);
  diagnostic.source = op.module().source;
  diagnostic.offset = op.instruction().opcode_offset;
  return tl::unexpected(std::move(diagnostic));
}

/// A count that the header or the collectives imply, and which of them it comes from.
struct KnownCount {
  std::string_view what;
  int64_t value = 0;  // 0: unknown
  std::string_view by;
  bool inferred = false;

  /// Null, or an account of the contradiction.
  std::optional<std::string> learn(int64_t found, std::string_view from) {
    if (value == 0) {
      *this = {what, found, from, true};
    } else if (value != found) {
      // Instructions are quoted; the header and options are not.
      const std::string subject = from != "the header" ? fmt::format("\"{}\"", from) : std::string(from);
      const std::string teller = inferred ? fmt::format("\"{}\"", by) : std::string(by);
      return fmt::format("{} names {} {}, {} {}", subject, found, what, teller, value);
    }
    return std::nullopt;
  }
};

/// What the collectives of a module say of its grid.
class GridInference {
 public:
  GridInference(const Module& module, const DeviceGrid& requested) {
    if (requested.replicas > 0) replicas_ = {"replicas", requested.replicas, "--replicas", false};
    if (requested.partitions > 0) partitions_ = {"partitions", requested.partitions, "--partitions", false};
    contradiction_ = requested.replicas > 0 && module.replica_count() > 1
                         ? replicas_.learn(module.replica_count(), "the header")
                         : std::nullopt;
    if (!contradiction_ && requested.partitions > 0 && module.num_partitions() > 1)
      contradiction_ = partitions_.learn(module.num_partitions(), "the header");
    if (requested.replicas == 0 && module.replica_count() > 1)
      replicas_ = {"replicas", module.replica_count(), "the header", false};
    if (requested.partitions == 0 && module.num_partitions() > 1)
      partitions_ = {"partitions", module.num_partitions(), "the header", false};
  }

  /// Takes in one collective; an account of what contradicts.
  std::optional<std::string> add(const OpContext& op) {
    const auto mode = group_mode(op);
    if (!mode) return mode.error().message;
    if (op.has(AttrKey::kSourceTargetPairs)) {
      int64_t& largest = *mode == GroupMode::kCrossReplica ? largest_replica_ : largest_partition_;
      for (const auto pair : op.int_lists(AttrKey::kSourceTargetPairs))
        for (const int64_t id : pair) largest = std::max(largest, id);
      return std::nullopt;
    }
    const auto counts = count_replica_groups(groups_of(op));
    if (!counts) return counts.error().message;
    if (counts->total == 0) return std::nullopt;
    if (may_leave_out(op.def())) return bound_ids(op, *mode);
    KnownCount& count = *mode == GroupMode::kCrossPartition ? partitions_
                        : *mode == GroupMode::kFlattened    ? devices_
                                                            : replicas_;
    return count.learn(counts->total, op.instruction().name);
  }

  // Groups that needn't hold every device say no more than the largest id.
  std::optional<std::string> bound_ids(const OpContext& op, GroupMode mode) {
    if (mode == GroupMode::kFlattened) return std::nullopt;
    const auto groups = list_replica_groups(groups_of(op), 0);
    if (!groups) return groups.error().message;
    int64_t& largest = mode == GroupMode::kCrossPartition ? largest_partition_ : largest_replica_;
    for (const auto& group : *groups)
      for (const int64_t id : group) largest = std::max(largest, id);
    return std::nullopt;
  }

  Result<DeviceGrid> solve() {
    if (contradiction_) return failure(*contradiction_);
    if (devices_.value > 0 && replicas_.value == 0 && partitions_.value == 0) {
      const bool by_replica = largest_replica_ > 0 && largest_partition_ <= 0;
      (by_replica ? replicas_ : partitions_) = devices_;
    }
    if (devices_.value > 0) {
      KnownCount& known = replicas_.value > 0 ? replicas_ : partitions_;
      KnownCount& other = replicas_.value > 0 ? partitions_ : replicas_;
      const bool fits = devices_.value % known.value == 0 &&
                        (other.value == 0 || other.value == devices_.value / known.value);
      if (!fits)
        return failure(fmt::format("\"{}\" names {} devices, which are no {} {} times {} {}", devices_.by,
                                   devices_.value, known.value, known.what,
                                   other.value == 0 ? "any number of" : std::to_string(other.value),
                                   other.what));
      other.inferred = other.inferred || other.value == 0;
      other.value = devices_.value / known.value;
    }
    bound(replicas_, largest_replica_);
    bound(partitions_, largest_partition_);
    DeviceGrid grid{std::max<int64_t>(replicas_.value, 1), std::max<int64_t>(partitions_.value, 1),
                    replicas_.inferred, partitions_.inferred};
    if (largest_replica_ >= grid.replicas || largest_partition_ >= grid.partitions)
      return failure(fmt::format("a collective names {} {}, there are {}",
                                 largest_replica_ >= grid.replicas ? "replica" : "partition",
                                 largest_replica_ >= grid.replicas ? largest_replica_ : largest_partition_,
                                 largest_replica_ >= grid.replicas ? grid.replicas : grid.partitions));
    if (grid.replicas > kMostDevices / grid.partitions)
      return failure(fmt::format("{} replicas times {} partitions are more than {} devices", grid.replicas,
                                 grid.partitions, kMostDevices));
    return grid;
  }

 private:
  static void bound(KnownCount& count, int64_t largest_id) {
    if (count.value == 0 && largest_id > 0 && largest_id < kMostDevices)
      count = {count.what, largest_id + 1, "", true};
  }

  KnownCount replicas_{"replicas", 0, {}}, partitions_{"partitions", 0, {}}, devices_{"devices", 0, {}};
  int64_t largest_replica_ = -1, largest_partition_ = -1;
  std::optional<std::string> contradiction_;
};

/// Calls place(replica, partition) for what `id` of this mode stands for within copy `copy` of the
/// groups (a partition in cross-replica mode, a replica in cross-partition mode).
template <class Place>
void place_id(GroupMode mode, const DeviceGrid& grid, int64_t id, int64_t copy, Place&& place) {
  switch (mode) {
    case GroupMode::kCrossReplica:
      return place(id, copy);
    case GroupMode::kCrossPartition:
      return place(copy, id);
    case GroupMode::kFlattened:
      return place(id / grid.partitions, id % grid.partitions);
    case GroupMode::kCrossReplicaAndPartition:
      for (int64_t p = 0; p < grid.partitions; ++p) place(id, p);
  }
}

/// Number of ids of this mode, and how often its groups run side by side.
struct ModeCounts {
  int64_t ids, copies;
};
ModeCounts mode_counts(GroupMode mode, const DeviceGrid& grid) {
  switch (mode) {
    case GroupMode::kCrossReplica:
      return {grid.replicas, grid.partitions};
    case GroupMode::kCrossPartition:
      return {grid.partitions, grid.replicas};
    case GroupMode::kCrossReplicaAndPartition:
      return {grid.replicas, 1};
    case GroupMode::kFlattened:
      break;
  }
  return {grid.devices(), 1};
}

/// payload · factor / divisor, rounded up.
Bytes scaled(Bytes payload, int64_t factor, int64_t divisor) {
  const int64_t whole = payload.count() / divisor, rest = payload.count() % divisor;
  const int64_t rest_scaled = saturating_multiply(rest, factor);
  const int64_t rest_up = ceil_div(rest_scaled, divisor);
  return Bytes(saturating_add(saturating_multiply(whole, factor), rest_up));
}

}  // namespace

std::string_view to_text(GroupMode mode) {
  switch (mode) {
    case GroupMode::kCrossReplica:
      return "cross-replica";
    case GroupMode::kCrossPartition:
      return "cross-partition";
    case GroupMode::kCrossReplicaAndPartition:
      return "cross-replica-and-partition";
    case GroupMode::kFlattened:
      break;
  }
  return "flattened";
}

Result<GroupMode> group_mode(const OpContext& op) {
  const bool flattened = op.flag(AttrKey::kUseGlobalDeviceIds);
  if (!op.has(AttrKey::kChannelId)) {
    if (flattened) return failure_at(op, "use_global_device_ids=true needs a channel_id");
    return GroupMode::kCrossReplica;
  }
  if (!knows_attr(op.def(), AttrKey::kUseGlobalDeviceIds)) return GroupMode::kCrossPartition;
  return flattened ? GroupMode::kFlattened : GroupMode::kCrossReplicaAndPartition;
}

DeviceGrid declared_grid(const Module& module) {
  return {std::max<int64_t>(module.replica_count(), 1), std::max<int64_t>(module.num_partitions(), 1)};
}

Result<DeviceGrid> device_grid(const Module& module, const OpTable& table, const DeviceGrid& requested) {
  GridInference inference(module, requested);
  ShapePool shapes;  // nothing here makes any
  for (const Instruction& instruction : module.instructions) {
    const OpDef& def = table[instruction.opcode];
    if (!def.has(kCollective) || def.has(kAsyncDone)) continue;
    const OpContext op(module, shapes, instruction, table, nullptr);
    if (auto contradiction = inference.add(op)) return failure_at(op, std::move(*contradiction));
  }
  return inference.solve();
}

int64_t group_size(const OpContext& op, GroupMode mode, const DeviceGrid& grid) {
  const auto counts = count_replica_groups(groups_of(op));
  HLOSIM_CHECK(counts.has_value(), "{}", counts.error().message);
  const int64_t ids = counts->total > 0 ? counts->members : mode_counts(mode, grid).ids;
  return mode == GroupMode::kCrossReplicaAndPartition ? saturating_multiply(ids, grid.partitions) : ids;
}

Result<CollectiveGroups> collective_groups(const OpContext& op, const DeviceGrid& grid) {
  const auto mode = group_mode(op);
  if (!mode) return tl::unexpected(mode.error());
  const ModeCounts counts = mode_counts(*mode, grid);
  const auto in_range = [&](int64_t id) { return id >= 0 && id < counts.ids; };
  CollectiveGroups result;
  result.mode = *mode;
  const auto flattened = [&](int64_t replica, int64_t partition) {
    return replica * grid.partitions + partition;
  };

  if (op.has(AttrKey::kSourceTargetPairs)) {
    for (int64_t copy = 0; copy < counts.copies; ++copy) {
      for (const auto pair : op.int_lists(AttrKey::kSourceTargetPairs)) {
        auto& ends = result.pairs.emplace_back();
        for (size_t end = 0; end < 2; ++end) {
          if (!in_range(pair[end]))
            return failure_at(
                op, fmt::format("id {} is not below {} ({} mode)", pair[end], counts.ids, to_text(*mode)));
          place_id(*mode, grid, pair[end], copy, [&](int64_t r, int64_t p) { ends[end] = flattened(r, p); });
        }
      }
    }
    return result;
  }

  const ReplicaGroups& written = groups_of(op);
  const auto listed = list_replica_groups(written, counts.ids);
  if (!listed) return failure_at(op, listed.error().message);
  if (*mode == GroupMode::kFlattened && written.form == ReplicaGroups::Form::kList && written.groups.empty())
    return failure_at(op, "flattened ids need replica_groups");
  for (int64_t copy = 0; copy < counts.copies; ++copy) {
    for (const auto& group : *listed) {
      auto& members = result.groups.emplace_back();
      for (const int64_t id : group) {
        if (!in_range(id))
          return failure_at(op,
                            fmt::format("id {} is not below {} ({} mode)", id, counts.ids, to_text(*mode)));
        place_id(*mode, grid, id, copy, [&](int64_t r, int64_t p) { members.push_back(flattened(r, p)); });
      }
    }
  }
  return result;
}

Bytes dense_bytes(std::span<const ShapeRef> payload) {
  int64_t sum = 0;
  for (const ShapeRef shape : payload)
    for_each_leaf(shape, [&](ShapeRef leaf) {
      if (leaf->is_array())
        sum = saturating_add(sum, saturating_multiply(leaf->element_count(), byte_width(leaf->element_type)));
    });
  return Bytes(sum);
}

Bytes collective_volume(CollectiveKind kind, int64_t members, Bytes payload) {
  const bool grows = kind == CollectiveKind::kAllGather || kind == CollectiveKind::kAllToAll ||
                     kind == CollectiveKind::kRaggedAllToAll;
  return grows ? scaled(payload, members, 1) : payload;
}

Bytes sent_per_member(CollectiveKind kind, int64_t members, Bytes payload) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return scaled(payload, 2 * (members - 1), members);
    case CollectiveKind::kAllGather:
      return scaled(payload, members - 1, 1);
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kRaggedAllToAll:
      return scaled(payload, members - 1, members);
    case CollectiveKind::kPermute:
      return payload;
    case CollectiveKind::kBroadcast:
      break;
  }
  return members > 1 ? payload : Bytes(0);
}

}  // namespace hlosim
