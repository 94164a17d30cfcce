#include "mosaic/operation_cost.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace hlosim::mosaic {
namespace {

using mlir::AttributeKind;
using mlir::Operation;
using mlir::Type;
using mlir::TypeKind;

enum class Shape : uint8_t { kFree, kResult, kOperand };

/// How an operation on vectors is costed: its class, by registers of what.
struct Row {
  std::string_view name;
  VectorClass of;
  Shape by;
};
constexpr Row kRows[] = {
    {"arith.constant", VectorClass::kSimple, Shape::kFree},
    {"arith.bitcast", VectorClass::kSimple, Shape::kFree},
    {"arith.divf", VectorClass::kDivide, Shape::kResult},
    {"arith.remf", VectorClass::kDivide, Shape::kResult},
    {"arith.divsi", VectorClass::kExpensive, Shape::kResult},
    {"arith.divui", VectorClass::kExpensive, Shape::kResult},
    {"arith.remsi", VectorClass::kExpensive, Shape::kResult},
    {"arith.remui", VectorClass::kExpensive, Shape::kResult},
    {"arith.floordivsi", VectorClass::kExpensive, Shape::kResult},
    {"arith.ceildivsi", VectorClass::kExpensive, Shape::kResult},
    {"math.absf", VectorClass::kSimple, Shape::kResult},
    {"math.absi", VectorClass::kSimple, Shape::kResult},
    {"math.ceil", VectorClass::kSimple, Shape::kResult},
    {"math.copysign", VectorClass::kSimple, Shape::kResult},
    {"math.ctpop", VectorClass::kSimple, Shape::kResult},
    {"math.ctlz", VectorClass::kSimple, Shape::kResult},
    {"math.floor", VectorClass::kSimple, Shape::kResult},
    {"math.fma", VectorClass::kSimple, Shape::kResult},
    {"math.round", VectorClass::kSimple, Shape::kResult},
    {"math.roundeven", VectorClass::kSimple, Shape::kResult},
    {"math.exp", VectorClass::kTranscendental, Shape::kResult},
    {"math.exp2", VectorClass::kTranscendental, Shape::kResult},
    {"math.log", VectorClass::kTranscendental, Shape::kResult},
    {"math.log2", VectorClass::kTranscendental, Shape::kResult},
    {"math.rsqrt", VectorClass::kTranscendental, Shape::kResult},
    {"math.sqrt", VectorClass::kTranscendental, Shape::kResult},
    {"math.tanh", VectorClass::kTranscendental, Shape::kResult},
    {"tpu.reciprocal", VectorClass::kTranscendental, Shape::kResult},
    {"tpu.bitcast", VectorClass::kSimple, Shape::kFree},
    {"tpu.bitcast_vreg", VectorClass::kSimple, Shape::kFree},
    {"tpu.concatenate", VectorClass::kCrossSublane, Shape::kResult},
    {"tpu.create_mask", VectorClass::kSimple, Shape::kResult},
    {"tpu.dynamic_gather", VectorClass::kCrossLane, Shape::kResult},
    {"tpu.dynamic_rotate", VectorClass::kCrossLane, Shape::kResult},
    {"tpu.gather", VectorClass::kCrossLane, Shape::kResult},
    {"tpu.iota", VectorClass::kSimple, Shape::kResult},
    {"tpu.repeat", VectorClass::kSimple, Shape::kFree},
    {"tpu.rotate", VectorClass::kCrossLane, Shape::kResult},
    {"tpu.roll_vectors", VectorClass::kSimple, Shape::kFree},
    {"tpu.unroll_vectors", VectorClass::kSimple, Shape::kFree},
    {"vector.bitcast", VectorClass::kSimple, Shape::kFree},
    {"vector.extract", VectorClass::kCrossLane, Shape::kResult},
    {"vector.extract_strided_slice", VectorClass::kSimple, Shape::kFree},
    {"vector.insert_strided_slice", VectorClass::kSimple, Shape::kFree},
};

bool is_vector(const Type* type) { return type && type->kind == TypeKind::kVector; }

const Type* vector_result(const Operation& op) {
  for (const mlir::Value* result : op.results)
    if (is_vector(result->type)) return result->type;
  return nullptr;
}
const Type* vector_operand(const Operation& op) {
  for (const mlir::Value* operand : op.operands)
    if (is_vector(operand->type)) return operand->type;
  return nullptr;
}

double elements_of(const Type& type) {
  double count = 1;
  for (const int64_t dim : type.dims) count *= static_cast<double>(std::max<int64_t>(dim, 0));
  return count;
}

/// Elements with the last two dimensions filled up to whole rows of `lanes` and whole groups of `sublanes`.
double padded_elements(const Type& type, double lanes, double sublanes) {
  const size_t rank = type.dims.size();
  if (rank == 0) return 1;
  const auto filled = [](double size, double unit) { return std::ceil(size / unit) * unit; };
  double count = filled(static_cast<double>(type.dims[rank - 1]), lanes);
  if (rank == 1) return filled(count, 1);
  count *= filled(static_cast<double>(type.dims[rank - 2]), sublanes);
  for (size_t i = 0; i + 2 < rank; ++i) count *= static_cast<double>(type.dims[i]);
  return count;
}

void add(OperationCost& cost, const RegisterShape& registers, VectorClass of, const Type* type,
         double times = 1) {
  if (!is_vector(type) || !type->element) return;
  VectorAmount& amount = cost.vector[static_cast<size_t>(of)];
  // A vector of one dimension lies along the lanes, or along rows: as many registers as its elements fill.
  const auto& [lanes, sublanes] = registers;
  const double count = type->dims.size() == 1 ? std::ceil(elements_of(*type) / (lanes * sublanes))
                                              : padded_elements(*type, lanes, sublanes) / (lanes * sublanes);
  (element_bits(*type->element) == 16 ? amount.halves : amount.words) += times * count;
}

std::vector<std::vector<int64_t>> lists_of(std::string_view text) {
  std::vector<std::vector<int64_t>> lists;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '[') lists.emplace_back();
    int64_t number = 0;
    const auto read = std::from_chars(text.data() + at, text.data() + text.size(), number);
    if (lists.empty() || read.ec != std::errc{}) continue;
    lists.back().push_back(number);
    at = static_cast<size_t>(read.ptr - text.data()) - 1;
  }
  return lists;
}

bool holds(const std::vector<int64_t>& list, size_t value) {
  return std::find(list.begin(), list.end(), static_cast<int64_t>(value)) != list.end();
}

/// Sizes of a product whose dimensions are told by numbers, else of two matrices, transposed or not.
KernelProduct product_of(const Operation& op) {
  const Type &lhs = *op.operands[0]->type, &rhs = *op.operands[1]->type, &out = *op.results[0]->type;
  KernelProduct made;
  made.m = made.n = made.k = 1;
  made.lhs = lhs.element->word;
  made.rhs = rhs.element->word;
  if (const auto* precision = op.find("precision")) made.precision = precision->text;
  const auto* numbers = op.find("dimension_numbers");
  std::vector<std::vector<int64_t>> lists = lists_of(numbers ? numbers->text : std::string_view{});
  if (lists.size() < 2) {
    const auto is_set = [&](std::string_view name) { return op.find(name) && op.find(name)->integer != 0; };
    if (plain_name(op) != "tpu.matmul" || lhs.dims.size() != 2 || rhs.dims.size() != 2) {
      // Two of the three sizes meet in each of the three shapes.
      const double a = elements_of(lhs), b = elements_of(rhs), c = elements_of(out);
      if (a <= 0 || b <= 0 || c <= 0) return made;
      made.m = std::max<int64_t>(1, std::llround(std::sqrt(a * c / b)));
      made.n = std::max<int64_t>(1, std::llround(std::sqrt(b * c / a)));
      made.k = std::max<int64_t>(1, std::llround(std::sqrt(a * b / c)));
      return made;
    }
    lists = {{is_set("transpose_lhs") ? 0 : 1}, {is_set("transpose_rhs") ? 1 : 0}};
  }
  const std::vector<int64_t> lhs_batch = lists.size() > 5 ? lists[5] : std::vector<int64_t>{};
  const std::vector<int64_t> rhs_batch = lists.size() > 6 ? lists[6] : std::vector<int64_t>{};
  for (size_t i = 0; i < lhs.dims.size(); ++i)
    (holds(lists[0], i) ? made.k : holds(lhs_batch, i) ? made.batch : made.m) *= lhs.dims[i];
  for (size_t i = 0; i < rhs.dims.size(); ++i)
    if (!holds(lists[1], i) && !holds(rhs_batch, i)) made.n *= rhs.dims[i];
  return made;
}

void add_product(const Operation& op, const RegisterShape& registers, OperationCost& cost) {
  if (op.operands.size() < 2 || op.results.empty() || !is_vector(op.operands[0]->type) ||
      !is_vector(op.operands[1]->type) || !op.operands[0]->type->element || !op.operands[1]->type->element)
    return;
  cost.product = product_of(op);
  cost.product->times = 1;
  // What the product is added to is added by the vector unit, unless it is a constant.
  const bool adds = op.operands.size() > 2 && op.operands[2]->owner &&
                    plain_name(*op.operands[2]->owner) != "arith.constant";
  if (adds) add(cost, registers, VectorClass::kSimple, op.results[0]->type);
}

/// A reduction adds up registers, then within those that are left, across lanes or sublanes.
void add_reduction(const Operation& op, const RegisterShape& registers, OperationCost& cost) {
  const Type* const operand = vector_operand(op);
  if (!operand) return;
  add(cost, registers, VectorClass::kSimple, operand);
  const auto* dims = op.find("reduction_dims");
  if (!dims || operand->dims.empty()) return;
  const auto rank = static_cast<int64_t>(operand->dims.size());
  Type left = *operand;
  std::vector<int64_t> sizes(operand->dims.begin(), operand->dims.end());
  bool across_lanes = false, across_sublanes = false;
  const double rotates = std::ceil(std::log2(registers.sublanes));  // of 8 sublanes by 4, 2 and 1
  for (const int64_t dim : dims->integers) {
    if (dim < 0 || dim >= rank) continue;
    if (dim == rank - 1) across_lanes = true;
    if (dim == rank - 2) across_sublanes = true;
    sizes[static_cast<size_t>(dim)] = 1;
  }
  left.dims = sizes;
  if (across_lanes) add(cost, registers, VectorClass::kCrossLane, &left);
  if (across_sublanes) add(cost, registers, VectorClass::kCrossSublane, &left, rotates);
}

void add_copy(const Operation& op, OperationCost& cost) {
  const Type* const source = op.operands.empty() ? nullptr : op.operands[0]->type;
  if (!source || source->kind != TypeKind::kMemRef) return;
  size_t memrefs = 0;
  bool leaves_chip_memory = false;
  std::string_view target_space = "vmem";
  for (const mlir::Value* operand : op.operands) {
    if (operand->type->kind != TypeKind::kMemRef) continue;
    const bool is_semaphore = memory_space(*operand->type).starts_with("sem");
    if (is_semaphore) continue;
    if (++memrefs == 2) target_space = memory_space(*operand->type);
  }
  const auto is_far = [](std::string_view space) {
    return space == "any" || space == "hbm" || space == "host";
  };
  leaves_chip_memory = is_far(memory_space(*source)) || is_far(target_space);
  const double bytes = dense_bytes(*source);
  // A device's number stands behind the semaphores, as scalars.
  const bool is_remote = std::any_of(op.operands.begin(), op.operands.end(), [](const mlir::Value* operand) {
    return operand->type->kind == TypeKind::kElement;
  });
  if (is_remote)
    cost.sent += bytes;
  else if (leaves_chip_memory)
    cost.copied += bytes;
}

/// The moves between memory and registers, and within them; false: it is none of these.
bool add_move(const Operation& op, std::string_view name, const RegisterShape& registers,
              OperationCost& cost) {
  const Type *result = vector_result(op), *operand = vector_operand(op);
  const bool is_load = name == "vector.load" || name == "tpu.vector_load" || name == "tpu.load" ||
                       name == "tpu.strided_load" || name == "tpu.vector_load_idx" ||
                       name == "vector.transfer_read";
  const bool is_store = name == "vector.store" || name == "tpu.vector_store" || name == "tpu.store" ||
                        name == "tpu.strided_store" || name == "tpu.vector_store_idx" ||
                        name == "vector.transfer_write";
  if (is_load && result) {
    cost.loaded += tiled_bytes(*result, registers);
  } else if (is_store && operand) {
    cost.stored += tiled_bytes(*operand, registers);
  } else if (name == "vector.broadcast") {
    const bool along_lanes =
        operand && result && !operand->dims.empty() && operand->dims.back() == 1 && result->dims.back() > 1;
    if (along_lanes) add(cost, registers, VectorClass::kCrossLane, operand);
  } else if (name == "vector.shape_cast" || name == "tpu.reshape") {
    const bool keeps_lanes = operand && result && !operand->dims.empty() && !result->dims.empty() &&
                             (operand->dims.back() == result->dims.back() || result->dims.back() == 1 ||
                              operand->dims.back() == 1);
    if (!keeps_lanes) add(cost, registers, VectorClass::kCrossLane, operand);
  } else if (name == "tpu.transpose" || name == "vector.transpose") {
    add(cost, registers, VectorClass::kCrossLane, operand);
  } else {
    return is_load || is_store;
  }
  return true;
}

}  // namespace

std::string_view plain_name(const Operation& op) {
  constexpr std::string_view kPrefix = "stable_mosaic.";
  return op.name.starts_with(kPrefix) ? op.name.substr(kPrefix.size()) : op.name;
}

int64_t element_bits(const Type& element) {
  if (element.kind != TypeKind::kElement) return 32;
  const size_t digits = element.word.find_first_of("0123456789");
  int64_t bits = 32;
  if (digits != std::string_view::npos)
    std::from_chars(element.word.data() + digits, element.word.data() + element.word.size(), bits);
  return bits < 1 || bits > 128 ? 32 : bits;
}

double dense_bytes(const Type& type) {
  return type.element ? std::ceil(elements_of(type) * static_cast<double>(element_bits(*type.element)) / 8)
                      : 0;
}

double tiled_bytes(const Type& type, const RegisterShape& registers) {
  if (!type.element) return 0;
  const auto bits = static_cast<double>(element_bits(*type.element));
  return padded_elements(type, registers.lanes, registers.sublanes * std::max(32 / bits, 1.0)) * bits / 8;
}

std::string_view memory_space(const Type& memref) {
  if (!memref.space) return "vmem";
  const std::string_view text = memref.space->text;
  return text.empty() ? "vmem" : text;
}

OperationCost operation_cost(const Operation& op, const RegisterShape& registers) {
  OperationCost cost;
  const std::string_view name = plain_name(op);
  const Type *result = vector_result(op), *operand = vector_operand(op);
  if (!result && !operand) {
    if (name == "tpu.enqueue_dma" || name == "tpu.enqueue_indirect_dma") add_copy(op, cost);
    const bool is_free = name.ends_with("constant") || name.ends_with("yield") || name.ends_with("return");
    cost.scalar = is_free ? 0 : 1;
    return cost;
  }
  for (const Row& row : kRows) {
    if (row.name != name) continue;
    if (row.by != Shape::kFree) add(cost, registers, row.of, row.by == Shape::kResult ? result : operand);
    return cost;
  }
  if (add_move(op, name, registers, cost)) return cost;
  if (name == "tpu.matmul" || name == "vector.contract") {
    add_product(op, registers, cost);
  } else if (name == "vector.multi_reduction" || name == "tpu.all_reduce" || name == "vector.reduction") {
    add_reduction(op, registers, cost);
  } else if (name.starts_with("arith.")) {
    add(cost, registers, VectorClass::kSimple, result ? result : operand);
  } else if (name.starts_with("math.")) {
    add(cost, registers, VectorClass::kExpensive, result);
  } else if (op.regions.empty() && !name.ends_with("yield") && !name.ends_with("return")) {
    add(cost, registers, VectorClass::kSimple, result ? result : operand);
    cost.is_known = false;
  }
  return cost;
}

}  // namespace hlosim::mosaic
