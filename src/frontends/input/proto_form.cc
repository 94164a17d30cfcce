#include <algorithm>

#include "input/proto_text.h"

namespace hlosim {

bool looks_like_proto(std::string_view bytes) {
  if (bytes.empty() || (bytes[0] != 0x0a && bytes[0] != 0x12 && bytes[0] != 0x1a)) return false;
  const std::string_view front = bytes.substr(0, 4096);
  return std::any_of(front.begin(), front.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r';
  });
}

}  // namespace hlosim
