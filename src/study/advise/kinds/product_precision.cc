// Matmuls of f32 arrays in more passes of the MXU than bf16 needs, and f32 operands that bf16 would hold.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "advise/kinds/kinds.h"
#include "advise/module_edits.h"
#include "modules/edit.h"
#include "ops/work.h"

namespace hlosim {
namespace {

constexpr size_t kMostProductGroups = 3;

bool is_f32_product(const Module& module, const OpTable& table, const Instruction& instruction) {
  return table[instruction.opcode].evaluation == EvaluationKind::kDot && instruction.operands.size() == 2 &&
         std::ranges::all_of(instruction.operands, [&](InstructionId id) {
           return module[id].shape->element_type == ElementType::kF32;
         });
}

std::string precision_text(const Instruction& product) {
  const Attr* attr = product.find(AttrKey::kOperandPrecision);
  std::string text;
  if (attr)
    for (const std::string_view word : attr->words())
      if (word != "default") text = word;
  return text;
}

struct ProductGroup {
  std::vector<std::string> names;
  InstructionId first;
  double flops = 0;
};

/// Operands become bf16, the sum stays f32; one pass.
Result<void> narrow_products(ModuleEditor& editor, const std::vector<std::string>& names) {
  Module& module = editor.module();
  for (const std::string& name : names) {
    const Result<InstructionId> id = named(module, name);
    if (!id) return tl::unexpected(id.error());
    const ComputationId parent = module[*id].parent;
    for (size_t i = 0; i < 2; ++i) {
      const Instruction& operand = module[module[*id].operands[i]];
      const InstructionId operands[] = {module[*id].operands[i]};
      const ShapeRef shape = module.shapes().with_element_type(operand.shape, ElementType::kBF16);
      const InstructionId narrow = editor.add(parent, Opcode::kConvert, "convert", shape, operands);
      module.computations[parent].instructions.push_back(narrow);
      editor.set_operand(*id, i, narrow);
    }
    if (module[*id].find(AttrKey::kOperandPrecision)) {
      static constexpr std::string_view kDefault[] = {"default", "default"};
      editor.set_attr(
          *id, Attr::make_list<std::string_view>(AttrKey::kOperandPrecision, AttrSyntax::kWords, kDefault));
    }
    editor.sort(parent);
  }
  return {};
}

}  // namespace

std::vector<Proposal> find_product_precision(const AdviceSubject& subject) {
  std::vector<Proposal> found;
  if (subject.setup.model) return found;
  const Module& module = *subject.setup.module;
  const AdvicePlaces places(module);
  std::map<std::string, ProductGroup> groups;
  ShapePool shapes = module.shapes().copy();
  for (const Computation& computation : module.computations)
    for (const InstructionId id : computation.instructions) {
      if (!is_f32_product(module, subject.table, module[id])) continue;
      const AdvicePlace place = places.without_line(module[id]);
      const std::string key = place.source_line > 0
                                  ? fmt::format("{}:{}", place.source_file, place.source_line)
                              : place.op_name.empty() ? place.instruction
                                                      : place.op_name;
      ProductGroup& group = groups[key];
      if (group.names.empty()) group.first = id;
      group.names.emplace_back(module[id].name);
      for (const MatmulWork& work :
           work_of(OpContext(module, shapes, module[id], subject.table, nullptr)).matmuls)
        group.flops += 2.0 * static_cast<double>(work.batch) * static_cast<double>(work.m) *
                       static_cast<double>(work.n) * static_cast<double>(work.k);
    }
  std::vector<const ProductGroup*> list;
  for (const auto& [key, group] : groups) list.push_back(&group);
  std::ranges::stable_sort(list, std::ranges::greater(), &ProductGroup::flops);
  list.resize(std::min(list.size(), kMostProductGroups));
  for (const ProductGroup* group : list) {
    const Instruction& product = module[group->first];
    const std::string precision = precision_text(product);
    Proposal& one = found.emplace_back();
    one.edit = edit_of_module(subject.table, [names = group->names](ModuleEditor& editor, TrialSetup&) {
      return narrow_products(editor, names);
    });
    one.name = std::string(product.name);
    one.problem = fmt::format(
        "{}{} multiplies f32 operands{}", product.name,
        group->names.size() > 1 ? fmt::format(" and {} more of its line", group->names.size() - 1) : "",
        precision.empty() ? "" : fmt::format(" with precision {}", precision));
    one.change = fmt::format(
        "jnp.dot(a.astype(jnp.bfloat16), b.astype(jnp.bfloat16), "
        "preferred_element_type=jnp.float32){}",
        precision.empty() ? "" : ", without precision=, or jax.default_matmul_precision(\"bfloat16\")");
    one.reason =
        "the MXU multiplies bf16: f32 at highest precision takes six passes, at high three; bf16 operands "
        "take half the bytes";
    one.place = places.of(product);
    one.proof = ProofKind::kRounding;
  }
  return found;
}

}  // namespace hlosim
