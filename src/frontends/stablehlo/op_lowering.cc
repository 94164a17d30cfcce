#include "stablehlo/op_lowering.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "hlo/stored_values.h"
#include "mlir/stable_operations.h"
#include "stablehlo/shardings.h"
#include "stablehlo/types.h"

namespace hlosim::stablehlo {

OpLowering::OpLowering(Lowering& lowering, Scope& scope, const mlir::Operation& op)
    : lowering_(lowering),
      scope_(scope),
      op_(op),
      place_{op.offset, lowering.metadata(op.location)},
      first_made_(lowering.builder().module().instructions.size()) {}

void OpLowering::report(std::string message) {
  builder().fail(op_.offset, fmt::format("{}: {}", op_.name, message));
}

// ── operands and results ──────────────────────────────────────────────────────────────────────

InstructionId OpLowering::operand(size_t i) {
  if (failed()) return {};
  if (i >= op_.operands.size()) return fail("operand {} is missing, there are {}", i, op_.operands.size());
  return lowering_.value(scope_, *op_.operands[i], op_.offset);
}

Values OpLowering::operands(size_t from, size_t to) {
  Values values;
  for (size_t i = from; i < std::min(to, op_.operands.size()); ++i) values.push_back(operand(i));
  return values;
}

bool OpLowering::takes(size_t count) {
  if (op_.operands.size() == count) return true;
  fail("expects {} operand{}, but has {}", count, count == 1 ? "" : "s", op_.operands.size());
  return false;
}

bool OpLowering::takes_at_least(size_t count) {
  if (op_.operands.size() >= count) return true;
  fail("expects at least {} operand{}, but has {}", count, count == 1 ? "" : "s", op_.operands.size());
  return false;
}

ShapeRef OpLowering::result(size_t i) {
  if (i >= op_.results.size()) {
    fail("result {} is missing, there are {}", i, op_.results.size());
    return nullptr;
  }
  const mlir::Type& type = *op_.results[i]->type;
  if (is_dynamic(type)) return nullptr;
  Result<ShapeRef> shape = shape_of(type, shapes());
  if (shape) return *shape;
  fail("{}", shape.error().message);
  return nullptr;
}

ShapeRef OpLowering::static_result(size_t i) {
  const ShapeRef shape = result(i);
  if (!shape && !failed())
    fail("the result {} is dynamic and doesn't become static from what is known",
         type_text(*op_.results[i]->type));
  return shape;
}

ShapeRef OpLowering::whole_result() {
  if (op_.results.size() == 1) return static_result(0);
  std::vector<ShapeRef> elements;
  for (size_t i = 0; i < op_.results.size(); ++i) {
    elements.push_back(static_result(i));
    if (failed()) return nullptr;
  }
  return shapes().tuple(elements);
}

void OpLowering::give(InstructionId value) {
  if (failed()) return;
  if (op_.results.size() != 1) {
    fail("has {} results, expected one", op_.results.size());
    return;
  }
  decorate(value);
  scope_.values[op_.results[0]] = value;
}

void OpLowering::give_all(std::span<const InstructionId> values) {
  if (failed()) return;
  if (values.size() != op_.results.size()) {
    fail("has {} results, expected {}", op_.results.size(), values.size());
    return;
  }
  for (size_t i = 0; i < values.size(); ++i) scope_.values[op_.results[i]] = values[i];
}

void OpLowering::give_elements(InstructionId tuple) {
  if (failed()) return;
  if (op_.results.size() == 1) return give(tuple);
  if (shape(tuple)->elements.size() != op_.results.size()) {
    fail("has {} results, expected {}", op_.results.size(), shape(tuple)->elements.size());
    return;
  }
  decorate(tuple);
  for (size_t i = 0; i < op_.results.size(); ++i)
    scope_.values[op_.results[i]] = element(tuple, static_cast<int64_t>(i));
}

void OpLowering::decorate(InstructionId value) {
  if (failed() || !value.valid() || static_cast<size_t>(value.index) < first_made_) return;
  for (const Attr& attr : discardable_attrs(*this))
    if (!builder().module()[value].find(attr.key)) builder().set_attr(value, attr);
}

// ── attributes ────────────────────────────────────────────────────────────────────────────────

const mlir::Attribute* OpLowering::need(std::string_view name) {
  const mlir::Attribute* attribute = find(name);
  if (!attribute) fail("needs the attribute \"{}\"", name);
  return attribute;
}

int64_t OpLowering::integer(std::string_view name, std::optional<int64_t> otherwise) {
  const mlir::Attribute* attribute = find(name);
  if (!attribute && otherwise) return *otherwise;
  if (!need(name)) return 0;
  const auto values = integers_of(*attribute);
  if (values && values->size() == 1) return (*values)[0];
  fail("the attribute \"{}\" is not an integer", name);
  return 0;
}

bool OpLowering::flag(std::string_view name, bool otherwise) {
  const mlir::Attribute* attribute = find(name);
  if (!attribute) return otherwise;
  return attribute->kind == mlir::AttributeKind::kUnit || integer(name) != 0;
}

std::string_view OpLowering::text(std::string_view name) {
  const mlir::Attribute* attribute = find(name);
  return attribute ? attribute->text : std::string_view();
}

std::optional<std::vector<int64_t>> integers_of(const mlir::Attribute& attribute) {
  using mlir::AttributeKind;
  switch (attribute.kind) {
    case AttributeKind::kBool:
    case AttributeKind::kInteger:
      return std::vector<int64_t>{attribute.integer};
    case AttributeKind::kIntegers:
      return std::vector<int64_t>(attribute.integers.begin(), attribute.integers.end());
    case AttributeKind::kArray: {
      std::vector<int64_t> all;
      for (const mlir::Attribute* item : attribute.items) {
        const auto values = integers_of(*item);
        if (!values) return std::nullopt;
        all.insert(all.end(), values->begin(), values->end());
      }
      return all;
    }
    case AttributeKind::kDense:
    case AttributeKind::kDenseResource:
      break;
    default:
      return std::nullopt;
  }
  if (!attribute.type || !attribute.type->element || !attribute.elements.is_given) return std::nullopt;
  const bool is_index = attribute.type->element->word == "index";
  const ElementType type = is_index ? ElementType::kS64 : element_type_of(*attribute.type->element);
  if (!is_integer(type) && !is_pred(type)) return std::nullopt;
  ShapePool pool;
  Literal literal;
  literal.shape = pool.scalar(type);
  literal.data = std::as_bytes(std::span(attribute.elements.bytes.data(), attribute.elements.bytes.size()));
  const auto width = static_cast<size_t>(byte_width(type));
  std::vector<int64_t> values;
  for (size_t i = 0; i < attribute.elements.bytes.size() / width; ++i)
    values.push_back(integer_at(literal, static_cast<int64_t>(i)));
  if (!attribute.elements.is_splat || values.empty()) return values;
  int64_t count = 1;
  for (const int64_t size : attribute.type->dims)
    if (__builtin_mul_overflow(count, size, &count) || count > (1 << 24) || count < 0) return std::nullopt;
  return std::vector<int64_t>(static_cast<size_t>(count), values[0]);
}

std::vector<int64_t> OpLowering::list(std::string_view name) {
  const mlir::Attribute* attribute = need(name);
  if (!attribute) return {};
  const bool table =
      attribute->kind == mlir::AttributeKind::kDense && attribute->type && attribute->type->dims.size() > 1;
  auto values = table ? std::nullopt : integers_of(*attribute);
  if (values) return std::move(*values);
  fail("the attribute \"{}\" is not a list of integers", name);
  return {};
}

std::vector<int64_t> OpLowering::list_or(std::string_view name, std::vector<int64_t> otherwise) {
  return has(name) ? list(name) : std::move(otherwise);
}

std::vector<int64_t> OpLowering::list_in(const mlir::Attribute& structure, std::string_view name) {
  const mlir::Attribute* attribute = structure.find(name);
  if (!attribute) return {};
  auto values = integers_of(*attribute);
  if (values) return std::move(*values);
  fail("\"{}\" is not a list of integers", name);
  return {};
}

int64_t OpLowering::integer_in(const mlir::Attribute& structure, std::string_view name, int64_t otherwise) {
  const mlir::Attribute* attribute = structure.find(name);
  return attribute ? attribute->integer : otherwise;
}

std::vector<std::vector<int64_t>> OpLowering::table(std::string_view name, size_t columns) {
  const mlir::Attribute* attribute = need(name);
  if (!attribute) return {};
  const auto integers = integers_of(*attribute);
  if (!integers) {
    fail("the attribute \"{}\" is not a table of integers", name);
    return {};
  }
  const std::vector<int64_t>& values = *integers;
  if (attribute->type && attribute->type->dims.size() == 2 && attribute->type->dims[1] >= 0)
    columns = static_cast<size_t>(attribute->type->dims[1]);
  std::vector<std::vector<int64_t>> rows;
  if (columns == 0) return rows;
  if (values.size() % columns != 0) {
    fail("the attribute \"{}\" has {} elements, expected rows of {}", name, values.size(), columns);
    return rows;
  }
  for (size_t i = 0; i < values.size(); i += columns)
    rows.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(i),
                      values.begin() + static_cast<std::ptrdiff_t>(i + columns));
  return rows;
}

// ── instructions ──────────────────────────────────────────────────────────────────────────────

InstructionId OpLowering::make(Opcode opcode, std::span<const InstructionId> operands,
                               std::span<const Attr> attrs, ShapeRef shape) {
  if (failed()) return {};
  return builder().add(scope_.body, opcode, operands, attrs, shape, place_);
}

InstructionId OpLowering::tuple(std::span<const InstructionId> elements) {
  return make(Opcode::kTuple, elements);
}

InstructionId OpLowering::element(InstructionId tuple, int64_t index) {
  return make(Opcode::kGetTupleElement, {tuple}, {Attr::make_int(AttrKey::kIndex, index)});
}

InstructionId OpLowering::constant(const Literal* literal) {
  if (failed() || !literal) return {};
  return builder().constant(scope_.body, literal, place_);
}

InstructionId OpLowering::constant_ints(ElementType type, std::span<const int64_t> dimensions,
                                        std::span<const int64_t> values) {
  return constant(integer_literal(builder().module(), shapes().array(type, dimensions), values));
}

InstructionId OpLowering::number(ElementType type, double value) {
  if (failed()) return {};
  if (type == ElementType::kInvalid) return fail("expects arrays of numbers");
  return constant(scalar_literal(builder().module(), type, value));
}

InstructionId OpLowering::splat(InstructionId scalar, ShapeRef dimensions) {
  if (failed() || dimensions->rank() == 0) return scalar;
  return make(Opcode::kBroadcast, {scalar}, {ints(AttrKey::kDimensions, {})},
              shapes().array(type(scalar), dimensions->dimensions, nullptr, dimensions->dynamic));
}

InstructionId OpLowering::number_like(InstructionId like, double value) {
  if (failed()) return {};
  return splat(number(type(like), value), shape(like));
}

InstructionId OpLowering::reshape(InstructionId operand, std::span<const int64_t> dimensions) {
  if (failed() || std::ranges::equal(shape(operand)->dimensions, dimensions)) return operand;
  return make(Opcode::kReshape, {operand}, {}, shapes().array(type(operand), dimensions));
}

InstructionId OpLowering::convert(InstructionId operand, ElementType to) {
  if (failed() || type(operand) == to) return operand;
  return make(Opcode::kConvert, {operand}, {}, shapes().with_element_type(shape(operand), to));
}

InstructionId OpLowering::broadcast_in_dim(InstructionId operand, std::span<const int64_t> dimensions,
                                           ShapeRef result) {
  if (failed()) return {};
  const ShapeRef from = shape(operand);
  if (!from->is_array() || !result->is_array() || static_cast<int64_t>(dimensions.size()) != from->rank())
    return fail("broadcast_dimensions has {} elements, expected {}: one for each dimension of the operand",
                dimensions.size(), from->rank());
  std::vector<int64_t> kept_sizes, kept;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const int64_t to = dimensions[i];
    if (to < 0 || to >= result->rank())
      return fail("broadcast_dimensions names dimension {}, but the result has {}", to, result->rank());
    if (std::count(dimensions.begin(), dimensions.end(), to) > 1)
      return fail("broadcast_dimensions names dimension {} more than once", to);
    const int64_t size = from->dim(static_cast<int64_t>(i));
    if (size != result->dim(to) && size != 1)
      return fail("dimension {} of the operand has size {}, dimension {} of the result {}", i, size, to,
                  result->dim(to));
    if (size == 1 && result->dim(to) != 1) continue;
    kept_sizes.push_back(size);
    kept.push_back(to);
  }
  if (!std::is_sorted(kept.begin(), kept.end())) {
    std::vector<int64_t> order(kept.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return kept[static_cast<size_t>(a)] < kept[static_cast<size_t>(b)];
    });
    operand = reshape(operand, kept_sizes);
    std::vector<int64_t> sizes;
    for (const int64_t from_dimension : order)
      sizes.push_back(kept_sizes[static_cast<size_t>(from_dimension)]);
    operand = make(Opcode::kTranspose, {operand}, {ints(AttrKey::kDimensions, order)},
                   shapes().array(type(operand), sizes));
    std::sort(kept.begin(), kept.end());
    kept_sizes = sizes;
  }
  if (from->is_static()) operand = reshape(operand, kept_sizes);
  return make(Opcode::kBroadcast, {operand}, {ints(AttrKey::kDimensions, kept)}, result);
}

// ── regions ───────────────────────────────────────────────────────────────────────────────────

bool OpLowering::has_region(size_t i) {
  if (i >= op_.regions.size() || op_.regions[i].blocks.empty()) {
    fail("has {} regions, expected {}", op_.regions.size(), i + 1);
    return false;
  }
  if (op_.regions[i].blocks.size() == 1) return true;
  fail("a region has {} blocks, expected one", op_.regions[i].blocks.size());
  return false;
}

ComputationId OpLowering::region(size_t i, std::string_view name) { return region(i, name, {}); }

ComputationId OpLowering::region(size_t i, std::string_view name, std::span<const size_t> order) {
  if (failed() || !has_region(i)) return {};
  const mlir::Block& block = *op_.regions[i].blocks[0];
  Scope inner;
  inner.outer = &scope_;
  for (size_t k = 0; k < block.arguments.size(); ++k) {
    const mlir::Value& argument = *block.arguments[order.empty() ? k : order[k]];
    Result<ShapeRef> shape = shape_of(*argument.type, shapes());
    if (!shape) {
      fail("{}", shape.error().message);
      return {};
    }
    inner.values[&argument] =
        builder().parameter(inner.body, *shape, fmt::format("Arg_{}", k), {op_.offset, {}});
  }
  const Values results = lowering_.block(inner, block);
  if (failed()) return {};
  InstructionId root = results.empty() ? InstructionId() : results[0];
  if (results.size() != 1) root = builder().add(inner.body, Opcode::kTuple, results, {}, nullptr, place_);
  return builder().close(inner.body, name, root, op_.offset);
}

namespace {

/// Values that are used in a region and defined outside of it.
class CaptureSearch {
 public:
  void region(const mlir::Region& region) {
    for (const mlir::Block* block : region.blocks) {
      for (const mlir::Value* argument : block->arguments) defined_.insert(argument);
      for (const mlir::Operation* op : block->operations) {
        for (const mlir::Value* operand : op->operands)
          if (!defined_.contains(operand) && seen_.insert(operand).second) found.push_back(operand);
        for (const mlir::Value* result : op->results) defined_.insert(result);
        for (const mlir::Region& inner : op->regions) this->region(inner);
      }
    }
  }
  std::vector<const mlir::Value*> found;

 private:
  std::unordered_set<const mlir::Value*> defined_, seen_;
};

}  // namespace

std::vector<const mlir::Value*> OpLowering::captured(size_t i) {
  CaptureSearch search;
  search.region(op_.regions[i]);
  std::erase_if(search.found,
                [](const mlir::Value* value) { return value->owner && is_constant(*value->owner); });
  return search.found;
}

ComputationId OpLowering::closed_region(size_t i, std::string_view name, Values& operands) {
  if (failed() || !has_region(i)) return {};
  const mlir::Block& block = *op_.regions[i].blocks[0];
  if (block.arguments.size() != operands.size()) {
    fail("has {} operands, but its region takes {}", operands.size(), block.arguments.size());
    return {};
  }
  std::vector<const mlir::Value*> inside(block.arguments.begin(), block.arguments.end());
  for (const mlir::Value* value : captured(i)) {
    operands.push_back(lowering_.value(scope_, *value, op_.offset));
    inside.push_back(value);
  }
  if (failed()) return {};
  Scope inner;
  inner.outer = &scope_;
  for (size_t k = 0; k < operands.size(); ++k)
    inner.values[inside[k]] =
        builder().parameter(inner.body, shape(operands[k]), fmt::format("Arg_{}", k), {op_.offset, {}});
  const Values results = lowering_.block(inner, block);
  if (failed()) return {};
  InstructionId root = results.empty() ? InstructionId() : results[0];
  if (results.size() != 1) root = builder().add(inner.body, Opcode::kTuple, results, {}, nullptr, place_);
  return builder().close(inner.body, name, root, op_.offset);
}

// ── tables ────────────────────────────────────────────────────────────────────────────────────

namespace {

/// `chlo.broadcast_add` does what `stablehlo.add` does, on shapes that it adapts.
Opcode opcode_of_row(std::string_view operation) {
  constexpr std::string_view kBroadcast = "chlo.broadcast_";
  const mlir::StableOperation* const known =
      operation.starts_with(kBroadcast)
          ? mlir::stable_operation(fmt::format("stablehlo.{}", operation.substr(kBroadcast.size())))
          : mlir::stable_operation(operation);
  return known ? known->opcode.value_or(Opcode::kConstant) : Opcode::kConstant;
}

}  // namespace

const RowOfOperation* find_row(std::string_view operation) {
  using Table = std::unordered_map<std::string_view, RowOfOperation>;
  static const Table table = [] {
    Table made;
    for (const auto rows : {elementwise_rows, shape_rows, indexing_rows, contraction_rows, reduction_rows,
                            control_rows, random_rows, mhlo_rows, linear_algebra_rows, collective_rows,
                            transfer_rows, call_rows, dynamic_rows, quantized_rows, check_rows, sharding_rows,
                            chlo_rows, chlo_function_rows, complex_function_rows})
      for (const Row& row : rows()) made.emplace(row.name, RowOfOperation{row, opcode_of_row(row.name)});
    return made;
  }();
  const auto row = [](std::string_view name) {
    const auto found = table.find(name);
    return found == table.end() ? nullptr : &found->second;
  };
  if (const RowOfOperation* own = row(operation)) return own;
  // What MHLO has no row of its own for is named and written alike in StableHLO or in CHLO.
  if (constexpr std::string_view kOld = "mhlo."; operation.starts_with(kOld))
    for (const std::string_view dialect : {"stablehlo", "chlo"})
      if (const RowOfOperation* same = row(fmt::format("{}.{}", dialect, operation.substr(kOld.size()))))
        return same;
  return nullptr;
}

const Literal* literal_of(OpLowering& op, const mlir::Attribute& dense, ShapeRef shape) {
  if (op.failed()) return nullptr;
  if (dense.kind != mlir::AttributeKind::kDense && dense.kind != mlir::AttributeKind::kDenseResource) {
    op.fail("the value is not a dense<…> of numbers");
    return nullptr;
  }
  Literal literal;
  literal.shape = shape;
  literal.elided = !dense.elements.is_given;
  if (literal.elided) return op.arena().make<Literal>(literal);
  const auto width = static_cast<size_t>(byte_width(shape->element_type));
  const auto bytes = std::as_bytes(std::span(dense.elements.bytes.data(), dense.elements.bytes.size()));
  const auto count = static_cast<size_t>(shape->element_count());
  const size_t wanted = dense.elements.is_splat ? std::min<size_t>(count, 1) * width : count * width;
  if (bytes.size() < wanted || (bytes.size() > wanted && !dense.elements.is_splat)) {
    op.fail("the value has {} bytes, expected {} for {}", bytes.size(), wanted,
            to_text_without_layout(shape));
    return nullptr;
  }
  std::vector<std::byte> data(dense.elements.is_splat ? count * width : 0);
  for (size_t i = 0; i < data.size(); i += width) std::memcpy(data.data() + i, bytes.data(), width);
  literal.data = op.arena().copy(dense.elements.is_splat ? std::span<const std::byte>(data) : bytes);
  return op.arena().make<Literal>(literal);
}

}  // namespace hlosim::stablehlo
