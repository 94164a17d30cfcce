// Options with several values: names separated by commas, and counts.
//
//   const Result<std::vector<std::string>> axes = read_words("--axes", "fsdp,tensor");
//   const Result<std::vector<int64_t>> chips = read_counts("--chips", "64..512", 65536);   // 64 128 256 512
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"

namespace hlosim {

/// Words between commas, in their order. Errors, which name the `option`: an empty word, one given twice.
Result<std::vector<std::string>> read_words(std::string_view option, std::string_view text);

/// Counts from 1 to `most`: 64,128, or 64..1024, which doubles. Rising, each once.
Result<std::vector<int64_t>> read_counts(std::string_view option, std::string_view text, int64_t most);

}  // namespace hlosim
