#include "ops/gemm_config.h"

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

}  // namespace hlosim
