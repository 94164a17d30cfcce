// Spellings of HLO texts of earlier years and what they became. The reader translates them, so that
// nothing behind it knows that they existed.
//
//   find_legacy_opcode("cross-replica-sum")->opcode        // Opcode::kAllReduce
//   find_legacy_opcode("all-reduce")                       // null: spelled like that today
#pragma once

#include <optional>
#include <string_view>

#include "hlo/opcode.h"

namespace hlosim {

struct LegacyOpcode {
  std::string_view text;
  Opcode opcode;
  std::string_view direction;  // of a compare; else empty
};

/// `greater-than` (until 2018: compare, direction=GT), `cross-replica-sum`, `generate-token`; null for
/// everything else.
const LegacyOpcode* find_legacy_opcode(std::string_view text);

/// What became of an attribute.
struct LegacyAttr {
  enum class Fate : unsigned char {
    kRenamed,   // the same value under another name
    kDropped,   // means nothing any more; the value is passed over
    kGroupIds,  // replica_group_ids={0,0,1,1}: the group of each replica
  };
  std::string_view text;
  AttrKey key;  // for kRenamed and kGroupIds
  Fate fate;
};

const LegacyAttr* find_legacy_attr(std::string_view text);

}  // namespace hlosim
