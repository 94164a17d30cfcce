#include "layout/element_type.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace hlosim {
namespace {

// Readers ask for every shape of a text, so the spellings are hashed; the factors below were
// searched so that no two of today's spellings share a slot.
constexpr size_t kSlots = 128;
constexpr size_t slot_of(std::string_view text) {
  const auto letter = [&](size_t i) {
    return static_cast<size_t>(static_cast<unsigned char>(text[std::min(i, text.size() - 1)]));
  };
  return (letter(0) * 52 + letter(1) * 37 + letter(3) * 51 + letter(5) * 9 + text.size() * 22) % kSlots;
}

constexpr std::array<uint8_t, kSlots> make_table() {
  std::array<uint8_t, kSlots> table{};
  for (int i = 1; i < kElementTypeCount; ++i) {
    uint8_t& slot = table[slot_of(internal::kElementTypes[i].text)];
    // Two spellings in one slot: not a constant expression, so the compiler says so.
    if (slot != 0) std::abort();
    slot = static_cast<uint8_t>(i);
  }
  return table;
}
constexpr std::array<uint8_t, kSlots> kTable = make_table();

}  // namespace

ElementType parse_element_type(std::string_view text) {
  if (text.size() < 2) return ElementType::kInvalid;
  const uint8_t found = kTable[slot_of(text)];
  return found != 0 && internal::kElementTypes[found].text == text ? static_cast<ElementType>(found)
                                                                   : ElementType::kInvalid;
}

}  // namespace hlosim
