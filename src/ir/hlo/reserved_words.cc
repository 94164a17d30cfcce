#include "hlo/reserved_words.h"

#include <algorithm>
#include <iterator>

#include "layout/element_type.h"

namespace hlosim {

bool is_reserved_word(std::string_view word) {
  static constexpr std::string_view kKeywords[] = {
      "true",        "false",      "inf",           "nan",       "HloModule",
      "ENTRY",       "ROOT",       "FileLocations", "FileNames", "FunctionNames",
      "StackFrames", "maximal",    "replicated",    "manual",    "last_tile_dim_replicate",
      "shard_as",    "shard_like", "unknown",       "unreduced", "token",
      "opaque"};
  if (parse_element_type(word) != ElementType::kInvalid) return true;
  return std::find(std::begin(kKeywords), std::end(kKeywords), word) != std::end(kKeywords);
}

}  // namespace hlosim
