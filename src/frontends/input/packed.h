// Bytes packed by gzip or Zstandard.
#pragma once

#include <string>
#include <string_view>

#include "base/source.h"

namespace hlosim {

/// What a packed file may hold: a few kilobytes of zeros, packed, can fill any memory.
inline constexpr size_t kMostUnpackedBytes = size_t{1} << 30;

/// Do the bytes begin as those programs write them?
bool is_packed(std::string_view bytes);
bool is_gzip(std::string_view bytes);

/// What was packed; several packed pieces one after the other are one text. Errors (naming `name`): damaged,
/// cut off, something behind the end, more than `limit` bytes. Requires: is_packed(bytes).
Result<std::string> unpacked(std::string_view bytes, std::string_view name,
                             size_t limit = kMostUnpackedBytes);

/// The name without .gz or .zst.
std::string_view without_packing(std::string_view name);

}  // namespace hlosim
