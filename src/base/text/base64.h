// Bytes as printable text.
//
//   base64("hi")                                   // "aGk="
#pragma once

#include <string>
#include <string_view>

namespace hlosim {

std::string base64(std::string_view bytes);

}  // namespace hlosim
