#include "memory/overwrite.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "layout/element_type.h"
#include "ops/dataflow.h"

namespace hlosim {
namespace {

bool equal(std::span<const int64_t> a, std::span<const int64_t> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

std::string_view unquoted(std::string_view text) {
  return text.size() >= 2 && text.front() == '"' ? text.substr(1, text.size() - 2) : text;
}

bool is_fusion_kind(const Instruction& fusion, std::string_view kind) {
  const Attr* attr = fusion.find(AttrKey::kKind);
  return attr && attr->text() == kind;
}

}  // namespace

int64_t Overwrites::first_use(const Instruction& user, InstructionId operand) const {
  return std::find(user.operands.begin(), user.operands.end(), operand) - user.operands.begin();
}

int64_t Overwrites::count_uses(const Instruction& user, InstructionId operand) const {
  return std::count(user.operands.begin(), user.operands.end(), operand);
}

bool Overwrites::allowed(InstructionId operand, std::span<const int64_t> index, InstructionId user,
                         std::span<const int64_t> user_index) const {
  const Instruction &source = module_[operand], &target = module_[user];
  const auto number = static_cast<size_t>(first_use(target, operand));
  if (number == target.operands.size() || source.literal) return false;
  const ShapeRef from = subshape(source.shape, index), to = subshape(target.shape, user_index);
  if (from == to)
    for (const InPlacePair& pair : in_place_pairs(module_, target))
      if (target.operands[static_cast<size_t>(pair.operand)] == operand && equal(pair.operand_index, index) &&
          equal(pair.output_index, user_index))
        return true;
  const Answer backend = backend_rule(operand, index, user, user_index);
  if (backend != Answer::kUnknown) return backend == Answer::kYes;
  if (from != to) return false;

  switch (table_[target.opcode].rules.overwrite) {
    case OverwriteRule::kFused: {
      const Computation& body = module_[target.find(AttrKey::kCalls)->computations()[0]];
      if (number >= body.parameters.size()) return false;  // an operand that the body doesn't take
      const bool output_add = is_fusion_kind(target, "kOutput") &&
                              table_[module_[body.root].opcode].rules.identity == Identity::kSum;
      if (is_fusion_kind(target, "kLoop") || is_fusion_kind(target, "kInput") || output_add)
        return into_fusion(body.parameters[number], target);
      break;
    }
    // Their bodies decide, where sharing that isn't allowed is found.
    case OverwriteRule::kBodies:
      return true;
    case OverwriteRule::kUpdate:
    case OverwriteRule::kFirst:
      return number == 0 && count_uses(target, operand) == 1;
    case OverwriteRule::kSecond:
      return number == 1 && count_uses(target, operand) == 1;
    case OverwriteRule::kSorted:
      if (users_.users(operand).size() != 1) return false;
      if (target.operands.size() == 1) return true;
      return count_uses(target, operand) == 1 && !user_index.empty() &&
             user_index[0] == static_cast<int64_t>(number);
    case OverwriteRule::kNever:
    case OverwriteRule::kByElement:
    case OverwriteRule::kSameWidth:
    case OverwriteRule::kOfScalar:
      break;
  }
  return is_elementwise(target, static_cast<int64_t>(number));
}

/// Loop and input fusions: everything from the parameter on goes element by element. Output fusions that add
/// to a product: the parameter is what is added.
bool Overwrites::into_fusion(InstructionId parameter, const Instruction& fusion) const {
  if (!is_fusion_kind(fusion, "kOutput")) return only_elementwise_users(parameter);
  const Instruction& add = module_.root(fusion.find(AttrKey::kCalls)->computations()[0]);
  const auto product = std::find_if(add.operands.begin(), add.operands.end(), [&](InstructionId id) {
    return table_[module_[id].opcode].rules.fusion == FusionRule::kProduct;
  });
  if (product == add.operands.end()) return false;
  const InstructionId other = add.operands[product == add.operands.begin() ? 1 : 0];
  return other == parameter && users_.users(parameter).size() == 1 && count_uses(add, parameter) == 1;
}

bool Overwrites::only_elementwise_users(InstructionId from) const {
  std::vector<InstructionId> stack = {from};
  std::unordered_set<int32_t> seen;
  while (!stack.empty()) {
    const InstructionId at = stack.back();
    stack.pop_back();
    seen.insert(at.index);
    for (const InstructionId id : users_.users(at)) {
      const Instruction& user = module_[id];
      if (table_[user.opcode].rules.value != ValueRule::kTuple)
        for (size_t i = 0; i < user.operands.size(); ++i)
          if (user.operands[i] == at && !is_elementwise(user, static_cast<int64_t>(i))) return false;
      if (!seen.contains(id.index)) stack.push_back(id);
    }
  }
  return true;
}

/// On this operand; an update in place counts for what it updates.
bool Overwrites::is_elementwise(const Instruction& instruction, int64_t operand) const {
  switch (table_[instruction.opcode].rules.overwrite) {
    case OverwriteRule::kUpdate:
      return operand == 0;
    case OverwriteRule::kFused:
      return fusion_is_elementwise(instruction, operand);
    default:
      return is_elementwise(instruction);
  }
}

/// On all operands.
bool Overwrites::is_elementwise(const Instruction& instruction) const {
  switch (table_[instruction.opcode].rules.overwrite) {
    case OverwriteRule::kByElement:
      return true;
    case OverwriteRule::kSameWidth:
      return bit_width(instruction.shape->element_type) ==
             bit_width(module_[instruction.operands[0]].shape->element_type);
    case OverwriteRule::kOfScalar:
      return module_[instruction.operands[0]].shape->is_scalar();
    case OverwriteRule::kFused: {
      const Computation& body = module_[instruction.find(AttrKey::kCalls)->computations()[0]];
      return std::all_of(body.instructions.begin(), body.instructions.end(), [&](InstructionId id) {
        return module_[id].parameter_number >= 0 || is_elementwise(module_[id]);
      });
    }
    case OverwriteRule::kNever:
    case OverwriteRule::kBodies:
    case OverwriteRule::kFirst:
    case OverwriteRule::kUpdate:
    case OverwriteRule::kSecond:
    case OverwriteRule::kSorted:
      break;
  }
  return false;
}

bool Overwrites::fusion_is_elementwise(const Instruction& fusion, int64_t operand) const {
  const Computation& body = module_[fusion.find(AttrKey::kCalls)->computations()[0]];
  if (static_cast<size_t>(operand) >= body.parameters.size()) return false;
  std::vector<InstructionId> stack = {body.parameters[static_cast<size_t>(operand)]};
  std::unordered_set<int32_t> seen;
  while (!stack.empty()) {
    const InstructionId at = stack.back();
    stack.pop_back();
    for (const InstructionId id : users_.users(at)) {
      if (!seen.insert(id.index).second) continue;
      const Instruction& user = module_[id];
      if (!is_elementwise(user) && !is_elementwise(user, first_use(user, at))) return false;
      stack.push_back(id);
    }
  }
  return true;
}

Overwrites::Answer Overwrites::backend_rule(InstructionId operand, std::span<const int64_t> index,
                                            InstructionId user, std::span<const int64_t> user_index) const {
  if (rules_ != SharingRules::kGpu2022) return Answer::kUnknown;
  const Instruction& target = module_[user];
  const int64_t number = first_use(target, operand);
  const auto answer = [](bool yes) { return yes ? Answer::kYes : Answer::kNo; };
  const OpRules& rules = table_[target.opcode].rules;
  if (rules.async_kind == AsyncKind::kAllReduce && rules.async_part == AsyncPart::kSplits) {
    if (target.operands.size() == 1) return answer(user_index.empty());
    return answer(user_index.size() == 1 && user_index[0] == number);
  }
  if (const Attr* name = target.find(AttrKey::kCustomCallTarget)) {
    if (unquoted(name->text()) != "__cublas$gemm") return Answer::kUnknown;
    return answer(target.operands.size() == 3 && number == 2);
  }
  if (rules.overwrite != OverwriteRule::kFused || !is_fusion_kind(target, "kInput")) return Answer::kUnknown;
  // Slices of one concatenation, side by side: each output may lie where the operand lies that it comes from.
  const Computation& body = module_[target.find(AttrKey::kCalls)->computations()[0]];
  const Instruction& root = module_[body.root];
  const bool slices = table_[root.opcode].rules.value == ValueRule::kTuple &&
                      std::all_of(root.operands.begin(), root.operands.end(),
                                  [&](InstructionId id) { return module_[id].opcode == Opcode::kSlice; });
  if (!slices || static_cast<size_t>(number) >= body.parameters.size()) return Answer::kUnknown;
  const ShapeRef from = subshape(module_[operand].shape, index), to = subshape(target.shape, user_index);
  if (!index.empty() || user_index.size() != 1 || !from->is_array() || !to->is_array() ||
      from->element_type != to->element_type || from->element_count() != to->element_count())
    return Answer::kNo;
  return answer(reaches_elementwise(body.parameters[static_cast<size_t>(number)],
                                    root.operands[static_cast<size_t>(user_index[0])]));
}

/// Every way from `parameter` to `output` goes element by element, through reshapes that move nothing, or
/// into a concatenation of which `output` takes exactly this part out again.
bool Overwrites::reaches_elementwise(InstructionId parameter, InstructionId output) const {
  struct Step {
    InstructionId at;
    bool concatenated = false;
    int64_t begin = 0, end = 0;  // of our part of the concatenation
  };
  std::vector<Step> stack = {{parameter}};
  std::unordered_set<int32_t> seen;
  bool reached = false;
  while (!stack.empty()) {
    const Step step = stack.back();
    stack.pop_back();
    for (const InstructionId id : users_.users(step.at)) {
      const Instruction& user = module_[id];
      if (table_[user.opcode].rules.value == ValueRule::kTuple) continue;
      if (user.opcode == Opcode::kSlice && step.concatenated) {
        const auto ranges = user.find(AttrKey::kSlice)->int_lists();
        const bool ours = ranges.size() == 1 && ranges[0][0] == step.begin && ranges[0][1] == step.end;
        if (id == output && !ours) return false;
        reached |= id == output;
        continue;
      }
      Step next = step;
      next.at = id;
      if (user.opcode == Opcode::kConcatenate) {
        if (user.shape->rank() != 1 || count_uses(user, step.at) != 1 || step.concatenated) return false;
        next.concatenated = true;
        next.begin = 0;
        for (const InstructionId part : user.operands) {
          if (part == step.at) break;
          next.begin += module_[part].shape->dim(0);
        }
        next.end = next.begin + module_[step.at].shape->dim(0);
      } else if (user.opcode != Opcode::kBitcast && user.opcode != Opcode::kReshape &&
                 (user.opcode == Opcode::kCopy || !is_elementwise(user, first_use(user, step.at)))) {
        return false;
      }
      if (seen.insert(id.index).second) stack.push_back(next);
    }
  }
  return reached;
}

}  // namespace hlosim
