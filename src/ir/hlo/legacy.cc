#include "hlo/legacy.h"

#include <algorithm>
#include <iterator>

namespace hlosim {
namespace {

constexpr LegacyOpcode kOpcodes[] = {
    {"cross-replica-sum", Opcode::kAllReduce, {}},
    {"equal-to", Opcode::kCompare, "EQ"},
    {"generate-token", Opcode::kAfterAll, {}},
    {"greater-than", Opcode::kCompare, "GT"},
    {"greater-than-or-equal-to", Opcode::kCompare, "GE"},
    {"less-than", Opcode::kCompare, "LT"},
    {"less-than-or-equal-to", Opcode::kCompare, "LE"},
    {"not-equal-to", Opcode::kCompare, "NE"},
};

using Fate = LegacyAttr::Fate;
constexpr LegacyAttr kAttrs[] = {
    {"all_reduce_id", AttrKey::kChannelId, Fate::kRenamed},
    {"async_group_id", {}, Fate::kDropped},
    {"barrier", {}, Fate::kDropped},
    {"elided_window_dims", AttrKey::kCollapsedSliceDims, Fate::kRenamed},
    {"gather_dims_to_operand_dims", AttrKey::kStartIndexMap, Fate::kRenamed},
    {"opaque", AttrKey::kBackendConfig, Fate::kRenamed},
    {"output_window_dims", AttrKey::kOffsetDims, Fate::kRenamed},
    {"replica_group_ids", AttrKey::kReplicaGroups, Fate::kGroupIds},
    {"window_bounds", AttrKey::kSliceSizes, Fate::kRenamed},
};

template <class Row, size_t kCount>
const Row* find(const Row (&rows)[kCount], std::string_view text) {
  const Row* row =
      std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) { return r.text == text; });
  return row == std::end(rows) ? nullptr : row;
}

}  // namespace

const LegacyOpcode* find_legacy_opcode(std::string_view text) { return find(kOpcodes, text); }
const LegacyAttr* find_legacy_attr(std::string_view text) { return find(kAttrs, text); }

}  // namespace hlosim
