#include "stablehlo/checks.h"
#include "stablehlo/types.h"

namespace hlosim::stablehlo {
namespace {

/// In HLO a check is a custom call without result, whose config says how far the values may be off.
void give_check(OpLowering& op, std::string_view target, InstructionId actual, InstructionId expected,
                const std::string& config) {
  if (op.failed()) return;
  std::vector<Attr> attrs = {op.builder().quoted(AttrKey::kCustomCallTarget, target),
                             Attr::make_bool(AttrKey::kCustomCallHasSideEffect, true)};
  if (!config.empty()) attrs.push_back(op.builder().quoted(AttrKey::kBackendConfig, config));
  const InstructionId operands[] = {actual, expected};
  if (!compatible(op.shape(actual), op.shape(expected))) {
    op.fail("{} is compared with {}, expected the same type", to_text_without_layout(op.shape(actual)),
            to_text_without_layout(op.shape(expected)));
    return;
  }
  op.make(Opcode::kCustomCall, operands, attrs, op.shapes().tuple({}));
}

std::string tolerance_config(double tolerance) { return fmt::format("tolerance={}", tolerance); }
std::string ulps_config(int64_t low, int64_t high) {
  return fmt::format("min_ulps={},max_ulps={}", low, high);
}

std::string config_of(OpLowering& op, std::string_view check) {
  if (check == "expect_almost_eq") {
    const mlir::Attribute* tolerance = op.find("tolerance");
    return tolerance_config(tolerance ? tolerance->number : 1e-4);
  }
  if (check == "expect_close")
    return ulps_config(op.integer("min_ulp_difference", 0), op.integer("max_ulp_difference", 1));
  return {};
}

void lower_check(OpLowering& op, Opcode) {
  if (!op.takes(2)) return;
  const InstructionId actual = op.operand(0), expected = op.operand(1);
  give_check(op, op.mlir().name, actual, expected, config_of(op, op.name()));
}

void lower_check_const(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  constexpr std::string_view kSuffix = "_const";
  const InstructionId actual = op.operand(0);
  const mlir::Attribute* value = op.need("value");
  if (op.failed()) return;
  const Result<ShapeRef> shape =
      value->type ? shape_of(*value->type, op.shapes()) : Result<ShapeRef>(op.shape(actual));
  if (!shape) {
    op.fail("{}", shape.error().message);
    return;
  }
  // Equal elements may be more than memory holds.
  const bool is_splat = value->kind == mlir::AttributeKind::kDense && value->elements.is_splat;
  const ShapeRef held =
      is_splat && (*shape)->is_array() ? op.shapes().scalar((*shape)->element_type) : *shape;
  const InstructionId expected = is_splat ? op.splat(op.constant(literal_of(op, *value, held)), *shape)
                                          : op.constant(literal_of(op, *value, held));
  const std::string_view target = op.mlir().name.substr(0, op.mlir().name.size() - kSuffix.size());
  give_check(op, target, actual, expected,
             config_of(op, op.name().substr(0, op.name().size() - kSuffix.size())));
}

constexpr Row kCheckRows[] = {
    {"check.expect_almost_eq", lower_check},      {"check.expect_almost_eq_const", lower_check_const},
    {"check.expect_close", lower_check},          {"check.expect_eq", lower_check},
    {"check.expect_eq_const", lower_check_const},
};

}  // namespace

/// As calls, checks have other defaults.
bool lower_called_check(OpLowering& op, std::string_view target) {
  const bool exact = target == "check.expect_eq", near = target == "check.expect_almost_eq",
             close = target == "check.expect_close", either = target == "check.eq";
  if (!exact && !near && !close && !either) return false;
  if (!op.takes(2)) return true;
  const InstructionId actual = op.operand(0), expected = op.operand(1);
  if (op.failed()) return true;
  const bool is_whole =
      op.shape(actual)->is_array() && (is_integer(op.type(actual)) || is_pred(op.type(actual)));
  if (either) target = is_whole ? "check.expect_eq" : "check.expect_almost_eq";
  give_check(op, target, actual, expected,
             near                  ? tolerance_config(1e-3)
             : close               ? ulps_config(0, 3)
             : either && !is_whole ? tolerance_config(1e-4)
                                   : std::string());
  return true;
}

std::span<const Row> check_rows() { return kCheckRows; }

}  // namespace hlosim::stablehlo
