#include "sharding/sharding_calls.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace hlosim {
namespace {

struct Target {
  std::string_view name;
  ShardingCall call;
};

constexpr Target kTargets[] = {
    {"Sharding", ShardingCall::kStates},
    {"SPMDFullToShardShape", ShardingCall::kIntoManual},
    {"SPMDShardToFullShape", ShardingCall::kOutOfManual},
    {"GlobalToLocalShape", ShardingCall::kIntoManual},
    {"LocalToGlobalShape", ShardingCall::kOutOfManual},
    {"ShardBarrierFrom", ShardingCall::kKeepsFromResult},
    {"ShardBarrierTo", ShardingCall::kKeepsFromOperand},
    {"X64Combine", ShardingCall::kElementwise},
    {"X64SplitHigh", ShardingCall::kElementwise},
    {"X64SplitLow", ShardingCall::kElementwise},
    {"xla.sdy.FuncResultSharding", ShardingCall::kStates},
    {"xla.sdy.GlobalToLocalShape", ShardingCall::kIntoManual},
    {"xla.sdy.LocalToGlobalShape", ShardingCall::kOutOfManual},
    {"xla.sdy.PropagationBarrier", ShardingCall::kKeepsApart},
    {"xla.sdy.ShardingGroup", ShardingCall::kGroup},
};

/// The number at the front of `text`, which is taken; -1: there is none.
int64_t take_number(std::string_view& text) {
  int64_t value = -1;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc()) return -1;
  text.remove_prefix(static_cast<size_t>(stop - text.data()));
  return value;
}

/// What stands behind `word` in the attribute; empty: it isn't there.
std::string_view behind(const Instruction& instruction, AttrKey key, std::string_view word) {
  const Attr* attr = instruction.find(key);
  const std::string_view text = attr ? attr->text() : std::string_view();
  const size_t at = text.find(word);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + word.size());
}

}  // namespace

ShardingCall sharding_call(const Instruction& instruction) {
  const Attr* attr = instruction.find(AttrKey::kCustomCallTarget);
  if (!attr || attr->text().size() < 2) return ShardingCall::kNone;
  const std::string_view target = attr->text().substr(1, attr->text().size() - 2);  // without the quotes
  const auto* found = std::find_if(std::begin(kTargets), std::end(kTargets),
                                   [&](const Target& known) { return known.name == target; });
  return found == std::end(kTargets) ? ShardingCall::kNone : found->call;
}

std::vector<int64_t> unspecified_dimensions(const Instruction& instruction) {
  std::string_view rest = behind(instruction, AttrKey::kBackendConfig, "unspecified_dims=[");
  std::vector<int64_t> dimensions;
  for (int64_t value = take_number(rest); value >= 0; value = take_number(rest)) {
    dimensions.push_back(value);
    if (!rest.starts_with(',')) break;
    rest.remove_prefix(1);
  }
  std::sort(dimensions.begin(), dimensions.end());
  return dimensions;
}

std::vector<std::vector<SdyDimension>> sdy_dimensions(const Instruction& instruction) {
  std::string_view rest = behind(instruction, AttrKey::kFrontendAttributes, "xla.sdy.sharding=\"");
  std::vector<std::vector<SdyDimension>> arrays;
  bool inside = false;  // of the list of an array's dimensions
  for (size_t i = 0; i < rest.size() && rest[i] != '"'; ++i) {
    if (rest[i] == '\\') {
      ++i;  // a quote around a name
    } else if (rest[i] == '[' && i + 1 < rest.size() && (rest[i + 1] == '{' || rest[i + 1] == ']')) {
      arrays.emplace_back();
      inside = true;
    } else if (rest[i] == ']') {
      inside = false;
    } else if (inside && rest[i] == '{') {
      arrays.back().emplace_back();
    } else if (inside && rest[i] == '?' && !arrays.back().empty()) {
      arrays.back().back().open = true;
    } else if (inside && rest[i] == 'p' && rest[i - 1] == '}') {
      std::string_view number = rest.substr(i + 1);
      arrays.back().back().priority = std::max<int64_t>(take_number(number), 0);
    }
  }
  return arrays;
}

int64_t sharding_group(const Instruction& instruction) {
  std::string_view rest = behind(instruction, AttrKey::kFrontendAttributes, "xla.sdy.sharding_group_id=\"");
  return rest.empty() ? -1 : take_number(rest);
}

}  // namespace hlosim
