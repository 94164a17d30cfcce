// The one place where names are made up: what it returns nothing has yet.
//
//   const auto is_taken = [&](std::string_view name) { return names.contains(name); };
//   int64_t next = 0;
//   free_name("copy", next, is_taken);             // "copy"; the next time "copy.1", "copy.2", …
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace hlosim {

/// `base` with the first number from `next` on that makes a name which `is_taken(name)` denies; `base` itself
/// has number 0. `next` is behind that number then, so that any number of names takes linear time.
template <class IsTaken>
std::string free_name(std::string_view base, int64_t& next, IsTaken&& is_taken) {
  std::string name;
  do {
    name = next > 0 ? fmt::format("{}.{}", base, next) : std::string(base);
    ++next;
  } while (is_taken(name));
  return name;
}

}  // namespace hlosim
