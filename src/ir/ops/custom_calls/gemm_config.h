// What the backend_config of a cuBLAS custom call says.
//
//   const GemmConfig config = parse_gemm_config(R"({"alpha_real":2,"beta":0,"epilogue":"BIAS"})");
//   config.alpha                                   // 2
//   config_numbers(text, "lhs_contracting_dimensions")     // nullopt: no such key
#pragma once

#include <complex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/dot_roles.h"

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

/// What follows the product, in this order.
struct GemmEpilogue {
  std::complex<double> alpha;
  double beta;  // 0: there is no addend
  bool bias, relu, gelu;

  bool is_nothing() const { return alpha == 1.0 && beta == 0 && !bias && !relu && !gelu; }
};

/// DEFAULT, or some of BIAS, RELU, GELU joined by _.
bool parse_epilogue(const std::string& text, GemmEpilogue& epilogue);

/// In which type the products are summed and the epilogue is computed.
ElementType gemm_sum_type(ElementType result);

/// The dimension numbers that the configuration names, if they fit the operands and the result.
std::optional<DotRoles> gemm_roles(const GemmConfig& config, ShapeRef lhs, ShapeRef rhs, ShapeRef result);

}  // namespace hlosim
