// Which outputs have to lie where an operand lies.
#include <algorithm>

#include "ops/dataflow.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

using Index = std::vector<int64_t>;

struct Place {
  InstructionId instruction;
  Index index;
};

/// Back through tuples and their elements, then through no-ops.
Place source_of(const Module& module, Place at) {
  while (is_tuple(module[at.instruction]) && !at.index.empty()) {
    at.instruction = module[at.instruction].operands[static_cast<size_t>(at.index.front())];
    at.index.erase(at.index.begin());
  }
  while (is_tuple_element(module[at.instruction])) {
    at.index.insert(at.index.begin(), module[at.instruction].find(AttrKey::kIndex)->integer());
    at.instruction = module[at.instruction].operands[0];
  }
  while (at.index.empty() && module[at.instruction].opcode == Opcode::kBitcast)
    at.instruction = module[at.instruction].operands[0];
  return at;
}

template <class F>
void for_each_leaf_index(ShapeRef shape, Index& index, F&& f) {
  if (!shape->is_tuple()) {
    f(index);
    return;
  }
  for (size_t i = 0; i < shape->elements.size(); ++i) {
    index.push_back(static_cast<int64_t>(i));
    for_each_leaf_index(shape->elements[i], index, f);
    index.pop_back();
  }
}

const InPlacePair* pair_of_output(const std::vector<InPlacePair>& pairs, const Index& output) {
  const auto found = std::find_if(pairs.begin(), pairs.end(),
                                  [&](const InPlacePair& pair) { return pair.output_index == output; });
  return found == pairs.end() ? nullptr : &*found;
}

/// For each output the update in the body that it comes from, and the parameter that this updates.
std::vector<InPlacePair> fusion_pairs(const Module& module, const Instruction& fusion, bool scatters) {
  std::vector<InPlacePair> pairs;
  const Computation& body = module[fusion.find(AttrKey::kCalls)->computations()[0]];
  Index output;
  for_each_leaf_index(fusion.shape, output, [&](const Index& index) {
    const Place source = source_of(module, {body.root, index});
    const std::vector<InPlacePair> inner = in_place_pairs(module, module[source.instruction], scatters);
    const InPlacePair* pair = pair_of_output(inner, source.index);
    if (!pair) return;
    Place input = source_of(module, {module[source.instruction].operands[static_cast<size_t>(pair->operand)],
                                     pair->operand_index});
    if (op_rules(module[input.instruction]).in_place == InPlaceRule::kFused) {
      const std::vector<InPlacePair> nested = in_place_pairs(module, module[input.instruction], scatters);
      if (const InPlacePair* through = pair_of_output(nested, input.index))
        input = source_of(module, {module[input.instruction].operands[static_cast<size_t>(through->operand)],
                                   through->operand_index});
    }
    if (const int64_t number = module[input.instruction].parameter_number; number >= 0)
      pairs.push_back({number, input.index, index});
  });
  return pairs;
}

/// What an instruction in the middle of a pipeline permutes into its second operand: four operands.
std::vector<InPlacePair> permute_pairs(const Module& module, const Instruction& permute, Index output) {
  if (permute.operands.size() != 4) return {};
  std::vector<InPlacePair> pairs = {{1, {}, output}};
  const ShapeRef target = module[permute.operands[1]].shape;
  output.push_back(0);
  for (size_t i = 0; target->is_tuple() && i < target->elements.size(); ++i) {
    output.back() = static_cast<int64_t>(i);
    pairs.push_back({1, {static_cast<int64_t>(i)}, output});
  }
  return pairs;
}

std::vector<InPlacePair> each_to_its_element(size_t count) {
  if (count == 1) return {{0, {}, {}}};
  std::vector<InPlacePair> pairs;
  for (size_t i = 0; i < count; ++i)
    pairs.push_back({static_cast<int64_t>(i), {}, {static_cast<int64_t>(i)}});
  return pairs;
}

void add_stated(const Module& module, const Instruction& instruction, std::vector<InPlacePair>& pairs) {
  const Attr* attr = instruction.find(AttrKey::kOutputToOperandAliasing);
  if (!attr) return;
  for (const Alias& alias : attr->aliases()) {
    if (alias.parameter < 0 || alias.parameter >= static_cast<int64_t>(instruction.operands.size())) continue;
    const ShapeRef operand = module[instruction.operands[static_cast<size_t>(alias.parameter)]].shape;
    if (!subshape(operand, alias.parameter_index) || !subshape(instruction.shape, alias.output_index))
      continue;
    pairs.push_back({alias.parameter, Index(alias.parameter_index.begin(), alias.parameter_index.end()),
                     Index(alias.output_index.begin(), alias.output_index.end())});
  }
}

}  // namespace

std::vector<InPlacePair> in_place_pairs(const Module& module, const Instruction& instruction, bool scatters) {
  std::vector<InPlacePair> pairs;
  switch (op_rules(instruction.opcode).in_place) {
    case InPlaceRule::kNone:
      return {};
    case InPlaceRule::kFirst:
      return {{0, {}, {}}};
    case InPlaceRule::kSecond:
      return {{1, {}, {}}};
    case InPlaceRule::kEachUpdated:
      return scatters ? each_to_its_element(instruction.operands.size() / 2) : pairs;
    case InPlaceRule::kEach:
      return each_to_its_element(instruction.operands.size());
    case InPlaceRule::kPermute:
      return permute_pairs(module, instruction, {});
    case InPlaceRule::kPermuteStart:
      return permute_pairs(module, instruction, {1});
    case InPlaceRule::kFused:
      pairs = fusion_pairs(module, instruction, scatters);
      break;
    case InPlaceRule::kStated:
      break;
  }
  add_stated(module, instruction, pairs);
  return pairs;
}

}  // namespace hlosim
