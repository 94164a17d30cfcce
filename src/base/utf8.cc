#include "base/utf8.h"

namespace hlosim {

size_t utf8_character(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto goes_on = [&](size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return goes_on(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool right = (first != 0xE0 || second >= 0xA0) && (first != 0xED || second < 0xA0);
    return right && goes_on(1) && goes_on(2) ? 3 : 0;
  }
  if (first < 0xF0 || first > 0xF4) return 0;
  const bool right = (first != 0xF0 || second >= 0x90) && (first != 0xF4 || second < 0x90);
  return right && goes_on(1) && goes_on(2) && goes_on(3) ? 4 : 0;
}

}  // namespace hlosim
