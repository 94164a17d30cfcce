#include "terms/terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace hlosim {

void Term::fact(std::string input, std::string text, std::string_view source) {
  inputs.push_back({std::move(input), std::move(text), {}, std::string(source), InputKind::kFact, {}, false});
}

void Term::fact(std::string input, double number, std::string_view source) {
  const bool is_whole = number < 1e15 && number == std::floor(number);
  fact(std::move(input), is_whole ? grouped(static_cast<int64_t>(number)) : fmt::format("{:.6g}", number),
       source);
}

void Term::fact(std::string input, Bytes bytes, std::string_view source) {
  fact(std::move(input), to_text(bytes), source);
}

void Term::part(std::string input, Picoseconds time, std::string_view source) {
  inputs.push_back({std::move(input), to_text(time), {}, std::string(source), InputKind::kTerm, {}, false});
}

void Term::adds(std::string input, double picoseconds, std::string_view source) {
  const std::string sign = picoseconds < 0 ? "-" : "";
  inputs.push_back({std::move(input),
                    sign + to_text(ceil_picoseconds(std::abs(picoseconds))),
                    {},
                    std::string(source),
                    InputKind::kTerm,
                    picoseconds});
}

void Term::key(const Device& device, std::string input, std::string_view path) {
  if (const DeviceValue* found = device.value(path))
    inputs.push_back({std::move(input), found->text, found->path, found->source, InputKind::kKey, {}, false});
}

void Term::adds_key(const Device& device, std::string input, std::string_view path, Picoseconds time,
                    bool is_linear) {
  const size_t before = inputs.size();
  key(device, std::move(input), path);
  if (inputs.size() == before) return;
  inputs.back().adds = static_cast<double>(time.count());
  inputs.back().is_linear = is_linear;
}

std::vector<KeySensitivity> sensitivities(const std::vector<Term>& terms) {
  std::vector<KeySensitivity> result;
  if (terms.empty() || terms.back().value.count() == 0) return result;
  const auto time = static_cast<double>(terms.back().value.count());
  // The terms that the whole is a sum of, itself first.
  std::vector<size_t> sums = {terms.size() - 1};
  for (size_t at = 0; at < sums.size(); ++at)
    for (const TermInput& input : terms[sums[at]].inputs) {
      if (!input.adds) continue;
      if (input.is_linear) result.push_back({input.key, *input.adds / time});
      for (size_t other = 0; other < sums[at] && input.kind == InputKind::kTerm; ++other)
        if (terms[other].name == input.name) sums.push_back(other);
    }
  // Keys that are read elsewhere, too, may make a difference that isn't the sum's.
  std::erase_if(result, [&](const KeySensitivity& one) {
    return std::ranges::any_of(terms, [&](const Term& term) {
      return std::ranges::any_of(
          term.inputs, [&](const TermInput& input) { return input.key == one.key && !input.is_linear; });
    });
  });
  return result;
}

}  // namespace hlosim
