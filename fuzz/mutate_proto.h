// Changes of binary protos that leave them protos: fields left out, doubled, exchanged, with other numbers
// and texts, at any depth.
//
//   mutated_proto(bytes, pool, random)
#pragma once

#include <string>
#include <string_view>

#include "pool.h"
#include "random.h"

namespace hlosim::fuzz {

/// Of bytes that are no proto: changes of single bytes.
std::string mutated_proto(std::string_view bytes, const Pool& pool, Random& random);

}  // namespace hlosim::fuzz
