// What the backend_config of a cuBLAS custom call says.
#pragma once

#include <complex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hlosim {

/// The numbers of `"key":["1","2"]` in a JSON text, quoted or escaped as it may be. Nullopt: no such key.
std::optional<std::vector<int64_t>> config_numbers(std::string_view config, std::string_view key);

/// The number of `"key":1.5`, quoted or not; `otherwise` where there is none.
double config_number(std::string_view config, std::string_view key, double otherwise);

/// result = epilogue(alpha · lhs · rhs + beta · operand 2)
struct GemmConfig {
  std::complex<double> alpha = 1;
  double beta = 0;
  std::string epilogue = "DEFAULT";  // BIAS, RELU, BIAS_RELU …
  // Nullopt: a plain product of matrices.
  std::optional<std::vector<int64_t>> lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;
};

GemmConfig parse_gemm_config(std::string_view config);

}  // namespace hlosim
