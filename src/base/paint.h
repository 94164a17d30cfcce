// Colours of a terminal in text, or none.
//
//   const Paint paint{true};
//   out += paint.bad("regressed");        // ESC[31mregressed ESC[0m
#pragma once

#include <string>
#include <string_view>

namespace hlosim {

struct Paint {
  bool on = false;

  std::string good(std::string_view text) const { return with("32", text); }     // green
  std::string bad(std::string_view text) const { return with("31", text); }      // red
  std::string warning(std::string_view text) const { return with("33", text); }  // yellow
  std::string strong(std::string_view text) const { return with("1", text); }
  std::string faint(std::string_view text) const { return with("2", text); }

 private:
  std::string with(std::string_view code, std::string_view text) const {
    if (!on || text.empty()) return std::string(text);
    std::string out = "\x1b[";
    ((out += code) += 'm') += text;
    return out += "\x1b[0m";
  }
};

}  // namespace hlosim
