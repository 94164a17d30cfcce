#include "ops/custom_calls/gemm_config.h"

#include <algorithm>
#include <charconv>

namespace hlosim {
namespace {

/// What stands behind `"key":`, without the quotes and backslashes in front of it; empty when there is none.
std::string_view value_of(std::string_view config, std::string_view key) {
  for (size_t at = config.find(key); at != std::string_view::npos; at = config.find(key, at + 1)) {
    const size_t behind = at + key.size();
    if (at == 0 || config[at - 1] != '"') continue;
    if (behind >= config.size() || (config[behind] != '"' && config[behind] != '\\')) continue;
    const size_t value = config.find_first_not_of("\\\": ", behind);
    return value == std::string_view::npos ? std::string_view() : config.substr(value);
  }
  return {};
}

bool is_dimension_list(const std::vector<int64_t>& list, ShapeRef shape) {
  return std::all_of(list.begin(), list.end(), [&](int64_t i) { return i >= 0 && i < shape->rank(); });
}

}  // namespace

double config_number(std::string_view config, std::string_view key, double otherwise) {
  const std::string_view value = value_of(config, key);
  double number = otherwise;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

std::optional<std::vector<int64_t>> config_numbers(std::string_view config, std::string_view key) {
  const size_t at = config.find(key);
  const size_t open = at == std::string_view::npos ? at : config.find('[', at);
  const size_t close = open == std::string_view::npos ? open : config.find(']', open);
  if (close == std::string_view::npos) return std::nullopt;
  std::vector<int64_t> numbers;
  for (size_t i = open; i < close; ++i) {
    if (config[i] < '0' || config[i] > '9') continue;
    int64_t number = 0;
    const auto [end, error] = std::from_chars(config.data() + i, config.data() + close, number);
    if (error == std::errc()) numbers.push_back(number);
    i = static_cast<size_t>(end - config.data());
  }
  return numbers;
}

GemmConfig parse_gemm_config(std::string_view config) {
  GemmConfig gemm;
  gemm.alpha = {config_number(config, "alpha_real", 1), config_number(config, "alpha_imag", 0)};
  gemm.beta = config_number(config, "beta", 0);
  const std::string_view epilogue = value_of(config, "epilogue");
  const size_t end = epilogue.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
  if (!epilogue.empty()) gemm.epilogue = epilogue.substr(0, end);
  gemm.lhs_contracting = config_numbers(config, "lhs_contracting_dimensions");
  gemm.rhs_contracting = config_numbers(config, "rhs_contracting_dimensions");
  gemm.lhs_batch = config_numbers(config, "lhs_batch_dimensions");
  gemm.rhs_batch = config_numbers(config, "rhs_batch_dimensions");
  return gemm;
}

ElementType gemm_sum_type(ElementType result) {
  if (is_complex(result) || result == ElementType::kF64) return result;
  return is_float(result) ? ElementType::kF32 : ElementType::kS32;
}

bool parse_epilogue(const std::string& text, GemmEpilogue& epilogue) {
  std::string_view rest = text;
  epilogue.bias = rest.starts_with("BIAS");
  if (epilogue.bias) rest.remove_prefix(rest.starts_with("BIAS_") ? 5 : 4);
  epilogue.relu = rest == "RELU";
  epilogue.gelu = rest == "GELU";
  return epilogue.relu || epilogue.gelu || rest == "DEFAULT" || rest.empty();
}

std::optional<DotRoles> gemm_roles(const GemmConfig& config, ShapeRef lhs, ShapeRef rhs, ShapeRef result) {
  using List = std::vector<int64_t>;
  DotRoles roles{config.lhs_batch.value_or(List()), config.rhs_batch.value_or(List()),
                 config.lhs_contracting.value_or(List{lhs->rank() - 1}),
                 config.rhs_contracting.value_or(List{rhs->rank() - 2})};
  if (roles.lhs_batch.size() != roles.rhs_batch.size() ||
      roles.lhs_contracting.size() != roles.rhs_contracting.size())
    return std::nullopt;
  std::vector<bool> lhs_used(static_cast<size_t>(lhs->rank())), rhs_used(static_cast<size_t>(rhs->rank()));
  int64_t count = 1;
  const auto pair = [&](const List& left, const List& right, bool kept) {
    if (!is_dimension_list(left, lhs) || !is_dimension_list(right, rhs)) return false;
    for (size_t i = 0; i < left.size(); ++i) {
      if (lhs->dim(left[i]) != rhs->dim(right[i])) return false;
      lhs_used[static_cast<size_t>(left[i])] = rhs_used[static_cast<size_t>(right[i])] = true;
      if (kept) count *= lhs->dim(left[i]);
    }
    return true;
  };
  if (!pair(roles.lhs_batch, roles.rhs_batch, true) ||
      !pair(roles.lhs_contracting, roles.rhs_contracting, false))
    return std::nullopt;
  for (int64_t i = 0; i < lhs->rank(); ++i)
    if (!lhs_used[static_cast<size_t>(i)]) count *= lhs->dim(i);
  for (int64_t i = 0; i < rhs->rank(); ++i)
    if (!rhs_used[static_cast<size_t>(i)]) count *= rhs->dim(i);
  return count == result->element_count() ? std::optional(roles) : std::nullopt;
}

}  // namespace hlosim
