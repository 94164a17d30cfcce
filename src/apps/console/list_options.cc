#include "console/list_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/quantity_text.h"
#include "base/text.h"

namespace hlosim {
namespace {

/// One number of a list.
Result<int64_t> read_count(std::string_view option, const std::string& word, int64_t most) {
  const Result<int64_t> count = TextForm<int64_t>::read(word);
  if (count && *count >= 1 && *count <= most) return *count;
  return failure(fmt::format("{}: '{}' is not a whole number from 1 to {}", option, shown(word), most),
                 fmt::format("as in {}=64,128 or {}=64..1024", option, option));
}

}  // namespace

Result<std::vector<std::string>> read_words(std::string_view option, std::string_view text) {
  std::vector<std::string> words;
  for (std::string& word : split(text, ',')) {
    if (word.empty()) return failure(fmt::format("{}: an empty word in '{}'", option, shown(text)));
    if (std::find(words.begin(), words.end(), word) != words.end())
      return failure(fmt::format("{}: '{}' is given twice", option, shown(word)));
    words.push_back(std::move(word));
  }
  return words;
}

Result<std::vector<int64_t>> read_counts(std::string_view option, std::string_view text, int64_t most) {
  std::set<int64_t> counts;
  for (const std::string& word : split(text, ',')) {
    const size_t dots = word.find("..");
    const Result<int64_t> first = read_count(option, word.substr(0, dots), most);
    if (!first) return tl::unexpected(first.error());
    if (dots == std::string::npos) {
      counts.insert(*first);
      continue;
    }
    const Result<int64_t> last = read_count(option, word.substr(dots + 2), most);
    if (!last) return tl::unexpected(last.error());
    for (int64_t count = *first; count <= *last; count *= 2) counts.insert(count);
  }
  return std::vector<int64_t>(counts.begin(), counts.end());
}

}  // namespace hlosim
