// Words of HLO text that can't be a bare name.
#pragma once

#include <string_view>

namespace hlosim {

/// An element type, a keyword, or a word of shardings.
bool is_reserved_word(std::string_view word);

}  // namespace hlosim
