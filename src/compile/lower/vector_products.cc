#include "lower/vector_products.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/contains.h"
#include "hlo/stored_values.h"
#include "modules/list_rewriter.h"

namespace hlosim {
namespace {

using Ints = std::vector<int64_t>;

struct ProductSide {
  InstructionId operand;
  Ints batch, contracting, free;
};

Ints dimensions_of(const Instruction& instruction, AttrKey key) {
  const Attr* attr = instruction.find(key);
  return attr ? Ints(attr->ints().begin(), attr->ints().end()) : Ints{};
}

/// Types that the vector unit sums as f32.
bool is_summed(ElementType type) {
  return type == ElementType::kF32 || type == ElementType::kBF16 || type == ElementType::kF16;
}

class VectorProducts {
 public:
  VectorProducts(ModuleEditor& editor, const OpTable& table)
      : editor_(editor), module_(editor.module()), rewriter_(editor, table) {}

  void run(ComputationId id) {
    rewriter_.run(id, [&](InstructionId at) { return visit(at); });
  }

 private:
  ProductSide side(const Instruction& dot, size_t number) const {
    constexpr std::pair<AttrKey, AttrKey> kKeys[] = {{AttrKey::kLhsBatchDims, AttrKey::kLhsContractingDims},
                                                     {AttrKey::kRhsBatchDims, AttrKey::kRhsContractingDims}};
    ProductSide found{dot.operands[number],
                      dimensions_of(dot, kKeys[number].first),
                      dimensions_of(dot, kKeys[number].second),
                      {}};
    for (int64_t i = 0; i < module_[found.operand].shape->rank(); ++i)
      if (!contains(found.batch, i) && !contains(found.contracting, i)) found.free.push_back(i);
    return found;
  }

  InstructionId visit(InstructionId id) {
    const Instruction& dot = module_[id];
    if (dot.opcode != Opcode::kDot || dot.operands.size() != 2 || !dot.shape->is_static()) return id;
    const ShapeRef lhs = module_[dot.operands[0]].shape, rhs = module_[dot.operands[1]].shape;
    if (!is_summed(lhs->element_type) || !is_summed(rhs->element_type) || !is_summed(dot.shape->element_type))
      return id;
    const std::array<ProductSide, 2> sides = {side(dot, 0), side(dot, 1)};
    const size_t vector = sides[1].free.empty() ? 1 : 0;
    if (!sides[vector].free.empty() || sides[1 - vector].free.empty() || sides[vector].contracting.empty())
      return id;
    const ProductSide &matrix = sides[1 - vector], &weights = sides[vector];
    const Ints places = places_in_matrix(matrix, weights);
    // The sum keeps the matrix's order of what stays: batch dimensions have to come first, as they do in a
    // dot.
    Ints kept = matrix.batch;
    kept.insert(kept.end(), matrix.free.begin(), matrix.free.end());
    if (!std::is_sorted(kept.begin(), kept.end()) || !std::is_sorted(places.begin(), places.end())) return id;
    return sum(id, matrix, weights, places);
  }

  /// Which dimension of the matrix each of the vector's is.
  Ints places_in_matrix(const ProductSide& matrix, const ProductSide& weights) const {
    Ints places(static_cast<size_t>(module_[weights.operand].shape->rank()));
    for (size_t i = 0; i < weights.batch.size(); ++i)
      places[static_cast<size_t>(weights.batch[i])] = matrix.batch[i];
    for (size_t i = 0; i < weights.contracting.size(); ++i)
      places[static_cast<size_t>(weights.contracting[i])] = matrix.contracting[i];
    return places;
  }

  InstructionId sum(InstructionId id, const ProductSide& matrix, const ProductSide& weights,
                    const Ints& places) {
    const InstructionId a = as_f32(matrix.operand), b = as_f32(weights.operand);
    const ShapeRef whole = module_[a].shape;
    const Attr broadcast_to[] = {ints_attr(module_, AttrKey::kDimensions, places)};
    const InstructionId spread = rewriter_.add(Opcode::kBroadcast, whole, {b}, broadcast_to);
    const InstructionId product = rewriter_.add(Opcode::kMultiply, whole, {a, spread});
    Ints summed = matrix.contracting;
    std::sort(summed.begin(), summed.end());
    const ComputationId called = addition();
    const Attr attrs[] = {ints_attr(module_, AttrKey::kDimensions, summed),
                          computation_attr(module_, AttrKey::kToApply, called)};
    const ShapeRef wanted = module_[id].shape;
    const ShapeRef shape = module_.shapes().array(ElementType::kF32, wanted->dimensions);
    const InstructionId total = rewriter_.add(Opcode::kReduce, shape, {product, zero()}, attrs);
    return wanted->element_type == ElementType::kF32 ? total
                                                     : rewriter_.add(Opcode::kConvert, wanted, {total});
  }

  InstructionId as_f32(InstructionId id) {
    const ShapeRef shape = module_[id].shape;
    if (shape->element_type == ElementType::kF32) return id;
    return rewriter_.add(Opcode::kConvert, module_.shapes().array(ElementType::kF32, shape->dimensions),
                         {id});
  }

  InstructionId zero() {
    const Literal* literal = scalar_literal(module_, ElementType::kF32, 0);
    const InstructionId scalar = rewriter_.add(Opcode::kConstant, literal->shape, {});
    module_.instructions[scalar].literal = literal;
    return scalar;
  }

  /// One for the whole module.
  ComputationId addition() {
    if (addition_.valid()) return addition_;
    addition_ = editor_.add_computation("add_f32");
    const ShapeRef scalar = module_.shapes().scalar(ElementType::kF32);
    const InstructionId operands[] = {editor_.add_parameter(addition_, "x", scalar),
                                      editor_.add_parameter(addition_, "y", scalar)};
    const InstructionId sum = editor_.add(addition_, Opcode::kAdd, "sum", scalar, operands);
    module_.computations[addition_].instructions.push_back(sum);
    module_.computations[addition_].root = sum;
    return addition_;
  }

  ModuleEditor& editor_;
  Module& module_;
  ListRewriter rewriter_;
  ComputationId addition_;
};

}  // namespace

void sum_vector_products(ModuleEditor& editor, const OpTable& table) {
  VectorProducts products(editor, table);
  for (const FlowComputation& flow : flow_computations(editor.module(), table))
    if (!flow.is_condition) products.run(flow.id);
}

}  // namespace hlosim
