// Formatted text at the end of a string.
//
//   std::string text;
//   const TextBuilder print{text};
//   print("{} bytes\n", 8);                          // text == "8 bytes\n"
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>

namespace hlosim {

/// `print("{} bytes\n", count)` appends to `out`.
struct TextBuilder {
  std::string& out;
  template <class... Args>
  void operator()(fmt::format_string<Args...> format, Args&&... args) const {
    fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
  }
};

}  // namespace hlosim
