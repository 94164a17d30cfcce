#include "schedule/split_collectives.h"

#include <fmt/format.h>

#include <algorithm>

#include "hlo/module_reader.h"
#include "hlo/stored_values.h"
#include "modules/async_forms.h"
#include "modules/compact.h"

namespace hlosim {
namespace {

class Splitter {
 public:
  Splitter(ModuleEditor& editor, const OpTable& table, const std::set<std::string, std::less<>>& whole)
      : editor_(editor), module_(editor.module()), table_(table), whole_(whole) {}

  std::vector<SplitCollective> run() {
    for (const FlowComputation& flow : flow_computations(module_, table_)) split_in(flow.id);
    return std::move(found_);
  }

 private:
  void split_in(ComputationId id) {
    const std::vector<InstructionId> before = module_[id].instructions;
    IdMap<InstructionId, InstructionId> done_of(module_.instructions.size());
    std::vector<InstructionId> order;
    bool any = false;
    for (const InstructionId at : before) {
      const std::optional<AsyncForm> form = async_form(module_[at].opcode);
      if (!form || whole_.contains(module_[at].name)) {
        order.push_back(at);
        continue;
      }
      const InstructionId start = add_start(id, at, *form);
      const InstructionId operands[] = {start};
      const InstructionId done =
          editor_.add(id, form->done, name_with(at, "-done"), module_[at].shape, operands);
      editor_.place_like(start, module_[at]);
      editor_.place_like(done, module_[at]);
      order.push_back(start);
      order.push_back(done);
      done_of[at] = done;
      any = true;
      found_.push_back(
          {std::string(module_[at].name), std::string(module_[start].name), std::string(module_[done].name)});
    }
    if (!any) return;
    Computation& computation = module_.computations[id];
    if (done_of[computation.root].valid()) computation.root = done_of[computation.root];
    computation.instructions = std::move(order);
    const auto now = [&](InstructionId old) {
      const bool known = static_cast<size_t>(old.index) < done_of.size();
      return known && done_of[old].valid() ? done_of[old] : old;
    };
    for (const InstructionId at : module_[id].instructions) redirect(at, now);
  }

  /// What waited for a collective waits for its done.
  template <class F>
  void redirect(InstructionId at, F&& now) {
    std::vector<InstructionId> operands(module_[at].operands.begin(), module_[at].operands.end());
    std::transform(operands.begin(), operands.end(), operands.begin(), now);
    if (!std::equal(operands.begin(), operands.end(), module_[at].operands.begin()))
      editor_.set_operands(at, operands);
    const Attr* before = module_[at].find(AttrKey::kControlPredecessors);
    if (!before) return;
    std::vector<InstructionId> others(before->instructions().begin(), before->instructions().end());
    std::transform(others.begin(), others.end(), others.begin(), now);
    editor_.set_attr(at, Attr::make_list(AttrKey::kControlPredecessors, AttrSyntax::kInstructions,
                                         std::span<const InstructionId>(module_.arena().copy(others))));
  }

  InstructionId add_start(ComputationId id, InstructionId collective, const AsyncForm& form) {
    const Instruction what = module_[collective];
    const ShapeRef shape = async_start_shape(module_, what);
    const std::string name = name_with(collective, "-start");
    if (!form.wraps) return editor_.add(id, form.start, name, shape, what.operands, what.attrs);
    std::vector<Attr> own, wrapped;
    for (const Attr& attr : what.attrs) (is_common_attr(attr.key) ? own : wrapped).push_back(attr);
    own.push_back(computation_attr(module_, AttrKey::kCalls, wrap(what, wrapped)));
    return editor_.add(id, form.start, name, shape, what.operands, own);
  }

  /// A computation that does nothing but the collective.
  ComputationId wrap(const Instruction& what, std::span<const Attr> attrs) {
    const ComputationId id = editor_.add_computation("async_computation");
    module_.computations[id].is_async_sugar = true;
    std::vector<InstructionId> parameters;
    for (const InstructionId operand : what.operands)
      parameters.push_back(editor_.add_parameter(id, "param", module_[operand].shape));
    const InstructionId root =
        editor_.add(id, what.opcode, to_text(what.opcode), what.shape, parameters, attrs);
    editor_.place_like(root, what);
    module_.computations[id].instructions.push_back(root);
    module_.computations[id].root = root;
    return id;
  }

  /// all-reduce.3 → all-reduce-start; the editor adds a number.
  std::string name_with(InstructionId id, std::string_view suffix) const {
    const std::string_view name = module_[id].name;
    return fmt::format("{}{}", name.substr(0, name.find('.')), suffix);
  }

  ModuleEditor& editor_;
  Module& module_;
  const OpTable& table_;
  const std::set<std::string, std::less<>>& whole_;
  std::vector<SplitCollective> found_;
};

}  // namespace

std::vector<SplitCollective> split_collectives(ModuleEditor& editor, const OpTable& table,
                                               const std::set<std::string, std::less<>>& whole) {
  return Splitter(editor, table, whole).run();
}

Module split_collectives(const Module& module, const OpTable& table) {
  Module copy = compacted(module, table);
  ModuleEditor editor(copy);
  split_collectives(editor, table);
  return compacted(copy, table);
}

}  // namespace hlosim
