#include "study/measured_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/text.h"

namespace hlosim {
namespace {

/// Doesn't change the time: labels and scales, results that follow from the arrays.
constexpr std::string_view kWithoutEffect[] = {
    "logits_dtype", "logits_scale", "dropout_rate", "reduction", "normalize_output",
    "labels",       "residuals",    "out",          "dout"};
struct Renamed {
  std::string_view from, to;
};
constexpr Renamed kRenamed[] = {
    {"is_causal", "causal"}, {"logits_soft_cap", "soft_cap"}, {"return_residuals", "residuals"}};

/// The first word of nested lists: precision is one per product and operand.
const Value& innermost(const Value& value) {
  return value.is_list() && !value.items.empty() ? innermost(value.items.front()) : value;
}

/// Adds what `value` says under its key. Errors: options that aren't modelled.
Result<void> add_setting(const Value& value, const std::string& path, bool is_loss,
                         std::vector<KernelSetting>& settings) {
  if (value.is_null() ||
      std::find(std::begin(kWithoutEffect), std::end(kWithoutEffect), value.key) != std::end(kWithoutEffect))
    return {};
  if (value.is_map()) {
    for (const Value& item : value.items)
      if (Result<void> added = add_setting(item, path + value.key + ".", is_loss, settings); !added)
        return added;
    return {};
  }
  std::string_view name = value.key;
  for (const Renamed& renamed : kRenamed)
    if (name == renamed.from) name = renamed.to;
  if (is_loss && name == "residuals") return {};  // the sums of the tokens are always a result
  const std::span<const std::string_view> known =
      kernel_arguments(is_loss ? "linear_softmax_cross_entropy_loss" : "flash_attention");
  if (std::find(known.begin(), known.end(), name) == known.end())
    return failure(fmt::format("args: \"{}{}\" is not modelled", path, shown(value.key)));
  settings.push_back({std::string(name), innermost(value).text});
  return {};
}

}  // namespace

Result<KernelRequest> read_measured_kernel(const Value& kernel, const Value* arguments, const Value* blocks) {
  std::vector<KernelSetting> settings, sizes;
  const bool is_loss = kernel.text.starts_with("linear");
  if (arguments)
    for (const Value& item : arguments->items)
      if (Result<void> added = add_setting(item, "", is_loss, settings); !added)
        return tl::unexpected(added.error());
  if (blocks)
    for (const Value& item : blocks->items)
      if (!item.is_null()) sizes.push_back({item.key, item.text});
  return read_kernel(kernel.text, settings, sizes);
}

}  // namespace hlosim
