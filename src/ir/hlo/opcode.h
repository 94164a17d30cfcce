// The opcodes of HLO and their spellings.
//
//   Opcode opcode{};
//   if (parse_opcode("add", opcode)) …             // Opcode::kAdd
//   to_text(AttrKey::kBackendConfig)               // "backend_config"
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hlosim {

enum class Opcode : uint8_t {
#define HLOSIM_OPCODE(Name, text) k##Name,
#include "hlo/opcodes.def"
#undef HLOSIM_OPCODE
};

inline constexpr std::string_view kOpcodeNames[] = {
#define HLOSIM_OPCODE(Name, text) text,
#include "hlo/opcodes.def"
#undef HLOSIM_OPCODE
};
inline constexpr int kOpcodeCount = static_cast<int>(std::size(kOpcodeNames));

constexpr std::string_view to_text(Opcode opcode) { return kOpcodeNames[static_cast<int>(opcode)]; }

/// The opcode spelled `text`; false when there is none.
bool parse_opcode(std::string_view text, Opcode& opcode);

/// Every attribute key of HLO text, of instructions and of the module header.
enum class AttrKey : uint8_t {
#define HLOSIM_ATTR(Name, text) k##Name,
#include "hlo/attr_keys.def"
#undef HLOSIM_ATTR
};

inline constexpr std::string_view kAttrNames[] = {
#define HLOSIM_ATTR(Name, text) text,
#include "hlo/attr_keys.def"
#undef HLOSIM_ATTR
};
inline constexpr int kAttrKeyCount = static_cast<int>(std::size(kAttrNames));

constexpr std::string_view to_text(AttrKey key) { return kAttrNames[static_cast<int>(key)]; }
bool parse_attr_key(std::string_view text, AttrKey& key);

}  // namespace hlosim
