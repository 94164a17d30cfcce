// Changes that any text can undergo: its tokens and lines moved, doubled, left out, exchanged for those of
// others.
//
//   mutated_text(text, pool, random)               // the same for the same state of `random`
//   other_number("128", random)                    // "0", "129", "-1", "9223372036854775807", …
#pragma once

#include <string>
#include <string_view>

#include "pool.h"
#include "random.h"

namespace hlosim::fuzz {

std::string mutated_text(std::string_view text, const Pool& pool, Random& random);

/// One that stands near, or where ranges end.
std::string other_number(std::string_view number, Random& random);

/// One token of `text` as it isn't; empty texts stay so.
std::string with_other_token(std::string_view text, const Pool& pool, Random& random);

}  // namespace hlosim::fuzz
