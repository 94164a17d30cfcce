// What XLA's verifier demands of the groups and pairs of a collective.
//
//   if (!require_groups(op, GroupSizes::kUniform)) return nullptr;         // it is reported
//   const int64_t members = declared_group_size(op);
#pragma once

#include "hlo/op_def.h"

namespace hlosim {

/// Members of a group as far as the header says: 1 when groups and header are silent or wrong.
int64_t declared_group_size(const OpContext& op);

/// Replica groups: a mode (see collective_groups.h); ids 0..n-1 once each, no group empty; n is what
/// the header says, unless that is 1; groups given in flattened mode. Uniform: all groups of one size.
/// False after a report. Part of the shape rules, as the number of members decides about shapes.
enum class GroupSizes : uint8_t { kUniform, kAny };
bool require_groups(OpContext& op, GroupSizes sizes);

/// A channel_id is positive.
void check_channel(OpContext& op);

/// use_global_device_ids=true needs a channel_id; XLA's reader of all-reduce asks for it.
void check_all_reduce_syntax(OpContext& op);

/// slice_sizes needs four operands.
void check_permute_syntax(OpContext& op);

/// Pairs: ids below what the header says (unless that is 1), each at most once as source and once as
/// target (in place: once for each of the slices). In place: offsets that fit the buffers.
void check_permute(OpContext& op);

}  // namespace hlosim
