#include "partition_check/same_form.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "hlo/attr.h"

namespace hlosim {
namespace {

bool same_shape(ShapeRef a, ShapeRef b) {
  if (a->kind != b->kind || a->elements.size() != b->elements.size()) return false;
  for (size_t i = 0; i < a->elements.size(); ++i)
    if (!same_shape(a->elements[i], b->elements[i])) return false;
  return !a->is_array() || (a->rank() == b->rank() && a->element_type == b->element_type);
}

bool same_lists(const Attr& a, const Attr& b) {
  return std::ranges::equal(a.int_lists(), b.int_lists(),
                            [](const auto& x, const auto& y) { return std::ranges::equal(x, y); });
}

bool same_groups(const ReplicaGroups& a, const ReplicaGroups& b) {
  return a.form == b.form && std::ranges::equal(a.iota_dimensions, b.iota_dimensions) &&
         std::ranges::equal(a.iota_reshape, b.iota_reshape) &&
         std::ranges::equal(a.iota_transpose, b.iota_transpose) && a.text == b.text &&
         std::ranges::equal(a.groups, b.groups,
                            [](const auto& x, const auto& y) { return std::ranges::equal(x, y); });
}

bool counts_elements(const Attr& attr) {
  return attr.key == AttrKey::kDynamicSliceSizes || attr.key == AttrKey::kSliceSizes ||
         attr.key == AttrKey::kFftLength || attr.key == AttrKey::kBackendConfig || attr.key == AttrKey::kK;
}

bool same_attribute(const Attr& a, const Attr& b) {
  if (a.key != b.key || a.syntax != b.syntax) return false;
  if (counts_elements(a)) return true;
  switch (a.syntax) {
    case AttrSyntax::kBool:
      return a.flag() == b.flag();
    case AttrSyntax::kInt:
      return a.integer() == b.integer();
    case AttrSyntax::kWord:
    case AttrSyntax::kString:
      return a.text() == b.text();
    case AttrSyntax::kInts:
    case AttrSyntax::kInts1:
    case AttrSyntax::kBools:
    case AttrSyntax::kBoolOrBools:
      return std::ranges::equal(a.ints(), b.ints());
    case AttrSyntax::kIntLists:
    case AttrSyntax::kPairs:
      return same_lists(a, b);
    case AttrSyntax::kComputation:
    case AttrSyntax::kComputations:
      return std::ranges::equal(a.computations(), b.computations());
    case AttrSyntax::kReplicaGroups:
      return same_groups(a.replica_groups(), b.replica_groups());
    case AttrSyntax::kDimLabels:
      return a.dim_labels().text == b.dim_labels().text;
    default:  // sizes, layouts, notes
      return true;
  }
}

/// Constants don't count: equal ones are one, and which are equal depends on sizes.
std::vector<InstructionId> all_but_constants(const Module& module, ComputationId id) {
  std::vector<InstructionId> list;
  for (const InstructionId one : module[id].instructions)
    if (!module[one].literal) list.push_back(one);
  return list;
}

bool same_computation(const Module& a, const Module& b, ComputationId id) {
  const std::vector<InstructionId> mine = all_but_constants(a, id), theirs = all_but_constants(b, id);
  if (mine.size() != theirs.size() || a[id].parameters.size() != b[id].parameters.size()) return false;
  std::unordered_map<int32_t, int32_t> stands_for;
  const auto same_value = [&](InstructionId p, InstructionId q) {
    if (a[p].literal || b[q].literal)
      return a[p].literal && b[q].literal && same_shape(a[p].shape, b[q].shape);
    const auto found = stands_for.find(p.index);
    return found != stands_for.end() && found->second == q.index;
  };
  for (size_t i = 0; i < mine.size(); ++i) {
    const Instruction &x = a[mine[i]], &y = b[theirs[i]];
    stands_for[mine[i].index] = theirs[i].index;
    if (x.opcode != y.opcode || x.parameter_number != y.parameter_number || !same_shape(x.shape, y.shape) ||
        !std::ranges::equal(x.operands, y.operands, same_value) ||
        !std::ranges::equal(x.attrs, y.attrs, same_attribute))
      return false;
  }
  return same_value(a[id].root, b[id].root);
}

}  // namespace

bool same_form(const Module& a, const Module& b) {
  if (a.computations.size() != b.computations.size() || a.entry != b.entry) return false;
  for (size_t i = 0; i < a.computations.size(); ++i)
    if (!same_computation(a, b, ComputationId{static_cast<int32_t>(i)})) return false;
  return true;
}

}  // namespace hlosim
