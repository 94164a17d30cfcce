#include "hlo/escapes.h"

#include <cctype>

namespace hlosim {

std::string unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    const auto octal = [](char d) { return d >= '0' && d <= '7'; };
    if (octal(c)) {
      int value = c - '0';
      for (int n = 0; n < 2 && i + 1 < text.size() && octal(text[i + 1]); ++n)
        value = value * 8 + (text[++i] - '0');
      out += static_cast<char>(value);
    } else if (c == 'x' || c == 'X') {
      int value = 0;
      for (int n = 0; n < 2 && i + 1 < text.size() && std::isxdigit(static_cast<unsigned char>(text[i + 1]));
           ++n) {
        const char d = text[++i];
        value = value * 16 + (d <= '9' ? d - '0' : (d | 0x20) - 'a' + 10);
      }
      out += static_cast<char>(value);
    } else {
      constexpr std::string_view kNames = "nrtabfv", kMeant = "\n\r\t\a\b\f\v";
      const size_t at = kNames.find(c);
      out += at == std::string_view::npos ? c : kMeant[at];
    }
  }
  return out;
}

}  // namespace hlosim
