// Tables with a row for each enumerator, which names it.
//
//   constexpr Row kRows[] = {{Color::kRed, "red"}, {Color::kBlue, "blue"}};
//   static_assert(rows_follow(kRows, &Row::color));        // kRows[static_cast<size_t>(color)] is its row
#pragma once

#include <cstddef>

namespace hlosim {

/// Row i names enumerator i.
template <class Row, size_t n, class Enum>
constexpr bool rows_follow(const Row (&rows)[n], Enum Row::*of) {
  for (size_t i = 0; i < n; ++i)
    if (rows[i].*of != static_cast<Enum>(i)) return false;
  return true;
}

}  // namespace hlosim
