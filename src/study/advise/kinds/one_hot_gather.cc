// Gathers of rows from small tables as matmuls with one-hot rows.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "advise/kinds/kinds.h"
#include "advise/module_edits.h"
#include "modules/edit.h"

namespace hlosim {
namespace {

constexpr size_t kMostOneHotGathers = 4;
constexpr int64_t kMostTableRows = 65536;  // of which one-hot rows are made
constexpr int64_t kLeastGatheredRows = 64;

std::vector<int64_t> int_list(const Instruction& instruction, AttrKey key) {
  const Attr* attr = instruction.find(key);
  return attr ? std::vector<int64_t>(attr->ints().begin(), attr->ints().end()) : std::vector<int64_t>();
}

/// Whole rows of a table by their number: result [indices..., D] of a table [V, D].
bool is_row_lookup(const Module& module, const Instruction& gather) {
  if (gather.opcode != Opcode::kGather) return false;
  const ShapeRef table = module[gather.operands[0]].shape, indices = module[gather.operands[1]].shape;
  if (!table->is_array() || table->rank() != 2 || !is_float(table->element_type)) return false;
  if (table->dim(0) > kMostTableRows || !table->is_static() || !indices->is_static()) return false;
  const int64_t vector = gather.find(AttrKey::kIndexVectorDim)->integer();
  const bool one_number =
      vector == indices->rank() || (vector == indices->rank() - 1 && indices->dim(vector) == 1);
  return one_number &&
         int_list(gather, AttrKey::kOffsetDims) == std::vector<int64_t>{gather.shape->rank() - 1} &&
         int_list(gather, AttrKey::kCollapsedSliceDims) == std::vector<int64_t>{0} &&
         int_list(gather, AttrKey::kStartIndexMap) == std::vector<int64_t>{0} &&
         int_list(gather, AttrKey::kOperandBatchingDims).empty() &&
         int_list(gather, AttrKey::kSliceSizes) == std::vector<int64_t>{1, table->dim(1)};
}

class OneHotWriter {
 public:
  OneHotWriter(ModuleEditor& editor, ComputationId parent)
      : editor_(editor), module_(editor.module()), parent_(parent) {}

  void replace(InstructionId gather) {
    const Instruction old = module_[gather];
    const InstructionId table = old.operands[0], indices = old.operands[1];
    const ShapeRef rows = module_[table].shape;
    const ElementType number = module_[indices].shape->element_type;
    const int64_t count = old.shape->element_count() / rows->dim(1), words = rows->dim(0);
    const ShapeRef wide = shape(number, {count, words});
    const InstructionId flat = add(Opcode::kReshape, shape(number, {count}), {indices});
    const InstructionId spread = add(Opcode::kBroadcast, wide, {flat}, {ints(AttrKey::kDimensions, {0})});
    const InstructionId all = add(Opcode::kIota, wide, {}, {Attr::make_int(AttrKey::kIotaDimension, 1)});
    const InstructionId equal =
        add(Opcode::kCompare, shape(ElementType::kPred, {count, words}), {spread, all},
            {Attr::make_text(AttrKey::kDirection, AttrSyntax::kWord, "EQ")});
    const InstructionId ones = add(Opcode::kConvert, shape(rows->element_type, {count, words}), {equal});
    std::vector<Attr> dims = {ints(AttrKey::kLhsContractingDims, {1}),
                              ints(AttrKey::kRhsContractingDims, {0})};
    static constexpr std::string_view kHighest[] = {"highest", "highest"};
    if (rows->element_type == ElementType::kF32)  // one bf16 pass would round the rows
      dims.push_back(
          Attr::make_list<std::string_view>(AttrKey::kOperandPrecision, AttrSyntax::kWords, kHighest));
    const InstructionId product =
        add(Opcode::kDot, shape(rows->element_type, {count, rows->dim(1)}), {ones, table}, dims);
    const InstructionId result = add(Opcode::kReshape, old.shape, {product});
    editor_.replace_everywhere(parent_, gather, result);
    std::erase(module_.computations[parent_].instructions, gather);
    editor_.sort(parent_);
  }

 private:
  ShapeRef shape(ElementType type, std::vector<int64_t> dims) {
    return module_.shapes().with_default_layouts(module_.shapes().array(type, dims));
  }
  Attr ints(AttrKey key, std::vector<int64_t> values) {
    return Attr::make_list<int64_t>(key, AttrSyntax::kInts, editor_.keep(values));
  }
  InstructionId add(Opcode opcode, ShapeRef shape, std::vector<InstructionId> operands,
                    std::vector<Attr> attrs = {}) {
    const InstructionId id = editor_.add(parent_, opcode, to_text(opcode), shape, operands, attrs);
    module_.computations[parent_].instructions.push_back(id);
    return id;
  }

  ModuleEditor& editor_;
  Module& module_;
  ComputationId parent_;
};

}  // namespace

std::vector<Proposal> find_one_hot_gathers(const AdviceSubject& subject) {
  std::vector<Proposal> found;
  if (subject.setup.model || subject.is_compiled) return found;
  const Module& module = *subject.setup.module;
  const AdvicePlaces places(module);
  std::vector<InstructionId> gathers;
  for (const Computation& computation : module.computations)
    for (const InstructionId id : computation.instructions)
      if (is_row_lookup(module, module[id]) &&
          module[id].shape->element_count() /
                  std::max<int64_t>(1, module[id].shape->dim(module[id].shape->rank() - 1)) >=
              kLeastGatheredRows)
        gathers.push_back(id);
  std::ranges::stable_sort(gathers, std::ranges::greater(),
                           [&](InstructionId id) { return logical_bytes(module[id].shape); });
  gathers.resize(std::min(gathers.size(), kMostOneHotGathers));
  for (const InstructionId id : gathers) {
    const std::string name(module[id].name);
    Proposal& one = found.emplace_back();
    one.edit = edit_of_module(subject.table, [name](ModuleEditor& editor, TrialSetup&) -> Result<void> {
      const Result<InstructionId> gather = named(editor.module(), name);
      if (!gather) return tl::unexpected(gather.error());
      if (!is_row_lookup(editor.module(), editor.module()[*gather]))
        return failure("no lookup of rows any more");
      OneHotWriter(editor, editor.module()[*gather].parent).replace(*gather);
      return {};
    });
    one.name = name;
    one.problem = fmt::format("{} fetches {} rows of {}", name, to_text_without_layout(module[id].shape),
                              to_text_without_layout(module[module[id].operands[0]].shape));
    one.change =
        "jax.nn.one_hot(i, n, dtype=table.dtype) @ table in place of table[i] (MaxText: "
        "use_iota_embed=True); "
        "indices out of range give rows of zeros";
    one.reason = "rows come by small transfers; the MXU multiplies small tables faster than that";
    one.place = places.of(module[id]);
  }
  return found;
}

}  // namespace hlosim
