#include "hlo/opcode.h"

#include <array>

namespace hlosim {
namespace {

constexpr uint32_t hash(std::string_view text) {
  uint32_t h = 2166136261u;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
  return h ^ (h >> 15);
}

/// Fixed open-addressing table from a spelling to its index, built at compile time.
template <size_t kSlots, size_t kCount>
class NameTable {
 public:
  constexpr explicit NameTable(const std::string_view (&names)[kCount]) : names_(names) {
    static_assert((kSlots & (kSlots - 1)) == 0 && kSlots >= 2 * kCount);
    for (size_t i = 0; i < kCount; ++i) {
      size_t at = hash(names[i]) & (kSlots - 1);
      while (slots_[at] != 0) at = (at + 1) & (kSlots - 1);
      slots_[at] = static_cast<uint16_t>(i + 1);
    }
  }
  constexpr int find(std::string_view text) const {
    for (size_t at = hash(text) & (kSlots - 1); slots_[at] != 0; at = (at + 1) & (kSlots - 1))
      if (names_[slots_[at] - 1u] == text) return slots_[at] - 1;
    return -1;
  }

 private:
  const std::string_view (&names_)[kCount];
  std::array<uint16_t, kSlots> slots_{};
};

constexpr NameTable<1024, kOpcodeCount> kOpcodes(kOpcodeNames);
constexpr NameTable<1024, kAttrKeyCount> kAttrs(kAttrNames);

}  // namespace

bool parse_opcode(std::string_view text, Opcode& opcode) {
  const int index = kOpcodes.find(text);
  if (index >= 0) opcode = static_cast<Opcode>(index);
  return index >= 0;
}

bool parse_attr_key(std::string_view text, AttrKey& key) {
  const int index = kAttrs.find(text);
  if (index >= 0) key = static_cast<AttrKey>(index);
  return index >= 0;
}

}  // namespace hlosim
