#include "ops/called_checks.h"

#include <algorithm>
#include <string>
#include <vector>

namespace hlosim {

bool require_parameters(OpContext& op, int constraint, ComputationId called, int64_t first_operand,
                        int64_t count) {
  if (parameter_count(op, called) != count) {
    op.error(constraint, "computation {} takes {} parameters, expected {}", op.computation(called).name,
             parameter_count(op, called), count);
    return false;
  }
  for (int64_t i = 0; i < count; ++i) {
    const ShapeRef operand = op.operand_shape(first_operand + i), parameter = parameter_shape(op, called, i);
    if (compatible(operand, parameter)) continue;
    op.error(constraint, "shape of operand {}, {}, does not match that of parameter {} of {}, {}",
             first_operand + i, text_of(operand), i, op.computation(called).name, text_of(parameter));
    return false;
  }
  return true;
}

bool require_aliases(OpContext& op, int constraint, AliasShapes shapes) {
  const Attr* attr = op.find(AttrKey::kOutputToOperandAliasing);
  if (!attr) return true;
  for (const Alias& alias : attr->aliases()) {
    if (alias.parameter < 0 || alias.parameter >= op.operand_count()) {
      op.error(constraint, "output_to_operand_aliasing names operand {}, but there are {}", alias.parameter,
               op.operand_count());
      return false;
    }
    ShapeRef operand = subshape(op.operand_shape(alias.parameter), alias.parameter_index);
    ShapeRef output = subshape(op.shape(), alias.output_index);
    if (!operand || !output) {
      op.error(constraint, "output_to_operand_aliasing names {}{}, which does not exist",
               operand ? "output " : "index ",
               list_text(operand ? alias.output_index : alias.parameter_index));
      return false;
    }
    if (shapes == AliasShapes::kEqualButForBuffers)
      operand = without_buffer(operand), output = without_buffer(output);
    if (shapes == AliasShapes::kAny || compatible(operand, output)) continue;
    op.error(constraint, "output_to_operand_aliasing joins output {} and operand {}, whose shapes differ",
             text_of(output), text_of(operand));
    return false;
  }
  return true;
}

bool begins(ShapeRef part, ShapeRef whole) {
  if (compatible(part, whole)) return true;
  if (!part->is_tuple()) return false;
  if (part->elements.empty()) return true;
  if (!whole->is_tuple() || part->elements.size() > whole->elements.size()) return false;
  for (size_t i = 0; i < part->elements.size(); ++i)
    if (!compatible(part->elements[i], whole->elements[i])) return false;
  return true;
}

namespace {

/// Blanks taken out; empty when the text may be spelled in other ways.
std::string canonical_sharding(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') out += c;
  for (const std::string_view form : {"<=", "mesh", "metadata", "last_tile", "shard_"})
    if (out.find(form) != std::string::npos) return {};
  return out;
}

/// The members of a tuple sharding `{{a},{b}}`; one of the form `{a}` is its only member.
std::vector<std::string_view> members(std::string_view text) {
  std::vector<std::string_view> parts;
  if (text.size() < 2 || text[1] != '{') return {text};
  size_t begin = 1;
  int depth = 0;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '{' && depth++ == 0) begin = i;
    if (text[i] == '}' && --depth == 0) parts.push_back(text.substr(begin, i + 1 - begin));
  }
  return parts;
}

bool shardings_differ(std::string_view a, std::string_view b) {
  const auto left = members(a), right = members(b);
  const size_t count = std::max(left.size(), right.size());
  if (left.empty() || right.empty() || (left.size() != right.size() && left.size() != 1 && right.size() != 1))
    return left.size() != right.size();
  for (size_t i = 0; i < count; ++i)
    if (left[left.size() == 1 ? 0 : i] != right[right.size() == 1 ? 0 : i]) return true;
  return false;
}

}  // namespace

bool require_one_sharding(OpContext& op, int constraint, std::span<const InstructionId> related) {
  const Instruction* first = op.has(AttrKey::kSharding) ? &op.instruction() : nullptr;
  for (const InstructionId id : related) {
    const Instruction& other = op.module()[id];
    const Attr* attr = other.find(AttrKey::kSharding);
    if (!attr) continue;
    if (!first) {
      first = &other;
      continue;
    }
    const std::string left = canonical_sharding(first->find(AttrKey::kSharding)->text());
    const std::string right = canonical_sharding(attr->text());
    if (left.empty() || right.empty() || !shardings_differ(left, right)) continue;
    const bool is_caller = first == &op.instruction();
    op.error(constraint, "sharding of {} in {}, {}, is not {}, {}", other.name,
             op.computation(other.parent).name, right,
             is_caller ? "the caller's" : fmt::format("that of {}", first->name), left);
    return false;
  }
  return true;
}

std::vector<ComputationId> branches_in(const OpContext& op) {
  if (const Attr* branches = op.find(AttrKey::kBranchComputations))
    return {branches->computations().begin(), branches->computations().end()};
  return {op.called(AttrKey::kTrueComputation), op.called(AttrKey::kFalseComputation)};
}

}  // namespace hlosim
