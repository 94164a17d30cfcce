#include "model/pallas/sequence_lengths.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "base/text.h"

namespace hlosim {
namespace {

constexpr int64_t kMostTokens = int64_t{1} << 31;
constexpr int64_t kMostNumbers = int64_t{1} << 20;

std::optional<int64_t> whole(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > kMostTokens)
    return std::nullopt;
  return value;
}

/// "8x512" → 8 and "512"; "512" → 1 and "512".
struct Counted {
  std::optional<int64_t> count = 1;
  std::string_view text;
};
Counted counted(std::string_view text) {
  const size_t times = text.find('x');
  if (times == std::string_view::npos) return {1, text};
  return {whole(text.substr(0, times)), text.substr(times + 1)};
}

}  // namespace

Result<std::vector<SequenceLength>> parse_sequence_lengths(std::string_view text) {
  std::vector<SequenceLength> sequences;
  if (text.empty()) return tl::unexpected(check_sequences(sequences).error());
  for (const std::string& part : split(text, ',')) {
    const Counted one = counted(part);
    const size_t colon = std::min(one.text.find(':'), one.text.size());
    const std::optional<int64_t> queries = whole(one.text.substr(0, colon));
    const std::optional<int64_t> keys =
        colon == one.text.size() ? queries : whole(one.text.substr(colon + 1));
    if (!one.count || !queries || !keys)
      return failure(fmt::format("lengths: '{}' is not COUNTxTOKENS:KEYS", shown(part)),
                     "as in 64x1:1500,448:2048: 64 sequences of one new token and 1,500 keys, one of 448");
    sequences.push_back({*one.count, *queries, *keys});
  }
  if (Result<void> checked = check_sequences(sequences); !checked) return tl::unexpected(checked.error());
  return sequences;
}

Result<std::vector<int64_t>> parse_counted_numbers(std::string_view text) {
  std::vector<int64_t> numbers;
  for (const std::string& part : split(text, ',')) {
    const Counted one = counted(part);
    const std::optional<int64_t> number = whole(one.text);
    if (!one.count || !number || *one.count + static_cast<int64_t>(numbers.size()) > kMostNumbers)
      return failure(fmt::format("'{}' is not COUNTxNUMBER", shown(part)), "as in 8x512,0,256");
    numbers.insert(numbers.end(), static_cast<size_t>(*one.count), *number);
  }
  return numbers;
}

Result<void> check_sequences(const std::vector<SequenceLength>& sequences) {
  if (sequences.empty())
    return failure("lengths are missing: there are no sequences", "as in 64x1:1500,448:2048");
  int64_t tokens = 0;
  for (const SequenceLength& one : sequences) {
    if (one.count < 1 || one.queries < 1 || one.count > kMostTokens || one.keys > kMostTokens)
      return failure(fmt::format("lengths: {} sequences of {} new tokens and {} keys, expected 1 to {}",
                                 one.count, one.queries, one.keys, kMostTokens));
    if (one.queries > one.keys)
      return failure(
          fmt::format("lengths: {} new tokens, but only {} keys, which include them", one.queries, one.keys));
    tokens += one.count * one.queries;
    if (tokens > kMostTokens)
      return failure(fmt::format("lengths: more than {} new tokens together", kMostTokens));
  }
  return {};
}

int64_t query_tokens(const std::vector<SequenceLength>& sequences) {
  int64_t tokens = 0;
  for (const SequenceLength& one : sequences) tokens += one.count * one.queries;
  return tokens;
}

}  // namespace hlosim
