// Who takes part in a collective, and how many bytes each member has to send.
//
// A program runs on R replicas × P partitions. The device of replica r and partition p has the
// flattened id r·P + p; all members below are flattened ids. What the ids in `replica_groups` or
// `source_target_pairs` are, depends on the instruction:
//
//   channel_id  use_global_device_ids   mode                           one group is
//   no          no                      cross-replica                  those replicas of one partition
//   yes         opcode has none         cross-partition                those partitions of one replica
//   yes         false                   cross-replica-and-partition    all partitions of those replicas
//   yes         true                    flattened                      just those
//
// Source: XLA's collective_ops_utils (August 2026).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "base/units.h"
#include "hlo/op_def.h"
#include "ops/work.h"

namespace hlosim {

enum class GroupMode : uint8_t { kCrossReplica, kCrossPartition, kCrossReplicaAndPartition, kFlattened };

/// "cross-replica", …
std::string_view to_text(GroupMode mode);

/// Error: use_global_device_ids=true without a channel_id.
Result<GroupMode> group_mode(const OpContext& op);

/// How many copies of a program run.
struct DeviceGrid {
  int64_t replicas = 1;
  int64_t partitions = 1;
  bool replicas_inferred = false;  // the header says nothing, the collectives do
  bool partitions_inferred = false;
  int64_t devices() const { return replicas * partitions; }
};

/// What the header says, 1 where it is silent: the grid that XLA's verifier holds collectives against.
DeviceGrid declared_grid(const Module& module);

/// The header's counts; a count that the header leaves at 1 is taken from the module's collectives:
/// groups of replica ids give R, of partition ids P, of flattened ids R·P. If only flattened ids
/// are there, all devices are taken for partitions (replicas when permutes go by replica ids).
/// Counts that `requested` holds (0: it doesn't) come first. Errors: collectives that contradict each other,
/// the header or what is requested; a header that does.
Result<DeviceGrid> device_grid(const Module& module, const OpTable& table,
                               const DeviceGrid& requested = {0, 0});

/// Members of one group, without listing them. Requires: a group mode, groups that can be counted.
int64_t group_size(const OpContext& op, GroupMode mode, const DeviceGrid& grid);

struct CollectiveGroups {
  GroupMode mode = GroupMode::kCrossReplica;
  /// Members as flattened ids in the order of the text, every group that runs at the same time;
  /// empty for collective-permute.
  std::vector<std::vector<int64_t>> groups;
  /// collective-permute: (source, target), flattened. A member that is the source of several pairs
  /// splits its payload among them.
  std::vector<std::array<int64_t, 2>> pairs;
};

/// Errors: no mode, malformed groups, ids outside of the grid, flattened mode without groups.
Result<CollectiveGroups> collective_groups(const OpContext& op, const DeviceGrid& grid);

/// Bytes of a payload without any padding, sub-byte elements a byte each.
Bytes dense_bytes(std::span<const ShapeRef> payload);

/// V, the array that a collective works on in one group of `members`, when each member contributes
/// `payload`: the gathered array of an all-gather, everything exchanged by an all-to-all, else one
/// member's payload.
Bytes collective_volume(CollectiveKind kind, int64_t members, Bytes payload);

/// What each member has to send at least, by bandwidth-optimal algorithms, n members, payload S:
///   all-gather (n-1)·S            reduce-scatter (n-1)/n·S       all-reduce 2(n-1)/n·S
///   all-to-all (n-1)/n·S          permute S                      broadcast S (every receiver but
///                                                                the last passes it on)
/// rounded up. A ragged all-to-all counts as one of equal parts: its sizes are data.
Bytes sent_per_member(CollectiveKind kind, int64_t members, Bytes payload);

}  // namespace hlosim
