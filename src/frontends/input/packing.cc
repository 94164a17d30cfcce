#include "input/packed.h"

namespace hlosim {
namespace {

constexpr std::string_view kGzip("\x1f\x8b\x08", 3);
constexpr std::string_view kZstandard("\x28\xb5\x2f\xfd", 4);

bool is_skippable_frame(std::string_view bytes) {
  return bytes.size() >= 4 && (static_cast<unsigned char>(bytes[0]) & 0xf0) == 0x50 &&
         bytes.substr(1, 3) == "\x2a\x4d\x18";
}

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with(kGzip); }

bool is_packed(std::string_view bytes) {
  return is_gzip(bytes) || bytes.starts_with(kZstandard) || is_skippable_frame(bytes);
}

std::string_view without_packing(std::string_view name) {
  for (const std::string_view ending : {".gz", ".zst"})
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  return name;
}

}  // namespace hlosim
