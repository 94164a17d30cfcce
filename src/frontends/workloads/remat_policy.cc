// Policies of rematerialization by name.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "workloads/step_options.h"

namespace hlosim {
namespace {

constexpr std::array<std::string_view, kSavedValues> kNames = {"decoder_layer_input",
                                                               "query_proj",
                                                               "key_proj",
                                                               "value_proj",
                                                               "qkv_proj",
                                                               "context",
                                                               "out_proj",
                                                               "mlpwi",
                                                               "mlpwi_0",
                                                               "mlpwi_1",
                                                               "mlpwo"};

using Value = SavedValue;
constexpr Value kProjections[] = {Value::kQueryProj, Value::kKeyProj, Value::kValueProj, Value::kQkvProj};
constexpr Value kMlpIn[] = {Value::kMlpWi, Value::kMlpWi0, Value::kMlpWi1};

void keep_all(RematPolicy& policy, std::span<const Value> values, Keep keep = Keep::kDevice) {
  for (const Value value : values) policy[value] = keep;
}

/// How each name fills in a policy that saves nothing.
struct PolicyRow {
  std::string_view name;
  void (*fill)(RematPolicy& policy);
};
constexpr PolicyRow kPolicies[] = {
    {"full", [](RematPolicy&) {}},
    {"nothing_saveable", [](RematPolicy&) {}},
    {"custom", [](RematPolicy& policy) { policy[Value::kDecoderLayerInput] = Keep::kDevice; }},
    {"minimal",
     [](RematPolicy& policy) {
       keep_all(policy, kProjections);
       keep_all(policy, kMlpIn);
       policy[Value::kOutProj] = policy[Value::kMlpWo] = Keep::kDevice;
     }},
    {"minimal_with_context",
     [](RematPolicy& policy) {
       keep_all(policy, kProjections);
       keep_all(policy, kMlpIn);
       policy[Value::kOutProj] = policy[Value::kMlpWo] = policy[Value::kContext] = Keep::kDevice;
     }},
    {"save_dot_except_mlpwi",
     [](RematPolicy& policy) {
       keep_all(policy, kProjections);
       policy[Value::kOutProj] = policy[Value::kMlpWo] = Keep::kDevice;
     }},
    {"save_dot_except_mlp",
     [](RematPolicy& policy) {
       keep_all(policy, kProjections);
       policy[Value::kOutProj] = Keep::kDevice;
     }},
    {"save_qkv_proj", [](RematPolicy& policy) { keep_all(policy, kProjections); }},
    {"save_out_proj", [](RematPolicy& policy) { policy[Value::kOutProj] = Keep::kDevice; }},
    {"qkv_proj_offloaded", [](RematPolicy& policy) { keep_all(policy, kProjections, Keep::kHost); }},
    {"minimal_offloaded",
     [](RematPolicy& policy) {
       keep_all(policy, kProjections, Keep::kHost);
       keep_all(policy, kMlpIn, Keep::kHost);
       policy[Value::kOutProj] = policy[Value::kMlpWo] = Keep::kHost;
     }},
};

}  // namespace

std::string_view to_text(SavedValue value) { return kNames[static_cast<size_t>(value)]; }

std::optional<SavedValue> parse_saved_value(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<SavedValue>(found - kNames.begin());
}

Result<RematPolicy> remat_policy(std::string_view name) {
  std::vector<std::string_view> names;
  for (const PolicyRow& row : kPolicies) {
    names.push_back(row.name);
    if (row.name != name) continue;
    RematPolicy policy;
    policy.name = name;
    row.fill(policy);
    return policy;
  }
  return failure(fmt::format("no remat policy is called '{}'", shown(name)),
                 fmt::format("one of {}", fmt::join(names, ", ")));
}

}  // namespace hlosim
