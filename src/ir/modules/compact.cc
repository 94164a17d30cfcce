#include "modules/compact.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "hlo/free_name.h"
#include "hlo/graph.h"
#include "hlo/module_reader.h"

namespace hlosim {
namespace {

/// What is declared otherwise is what the operands give (OpTrait).
bool follows_operands(const OpDef& def) {
  return def.has(kDerivedShape) || def.rules.value == ValueRule::kTuple;
}

/// Of an instruction that follows its operands: the shape that they give; null: none, or the declared one.
ShapeRef shape_of_operands(Module& module, const Instruction& instruction, const OpTable& table) {
  OpContext op(module, instruction, table, nullptr);
  const ShapeRef inferred = op.def().infer_shape(op);
  return inferred && !compatible(inferred, instruction.shape) ? inferred : nullptr;
}

class Compaction {
 public:
  /// `made`: `from` but for its instructions and computations.
  Compaction(const Module& from, Module made, const OpTable& table)
      : from_(from),
        table_(table),
        made_(std::move(made)),
        computation_now_(from.computations.size()),
        now_(from.instructions.size()) {}

  Module run() {
    const std::vector<ComputationId> all = callees_first(from_);
    size_t listed = 0;
    for (const ComputationId id : all) listed += from_[id].instructions.size();
    made_.instructions.reserve(listed);
    for (const ComputationId id : all)
      if (!from_[id].is_async_sugar) names_.insert(from_[id].name);
    for (const ComputationId id : all)
      if (!from_[id].is_async_sugar) add_computation(id);
    made_.entry = computation_now_[from_.entry];
    std::vector<Attr> attrs(from_.attrs.begin(), from_.attrs.end());
    for (Attr& attr : attrs)
      if (attr.key == AttrKey::kEntryComputationLayout) attr = with_default_layouts(attr);
    made_.attrs = made_.arena().copy(attrs);
    return std::move(made_);
  }

 private:
  // ── computations ──

  void add_computation(ComputationId id) {
    const Computation& before = from_[id];
    const ComputationId now = begin(before.name, before);
    computation_now_[id] = now;
    for (const InstructionId old : before.instructions) {
      const Instruction& instruction = from_[old];
      now_[old] = is_part_of_sugar(instruction) ? add_async_part(instruction, now)
                                                : add(with_new_ids(instruction, instruction.attrs), now);
    }
    made_.computations[now].root = now_[before.root];
  }

  ComputationId begin(std::string_view name, const Computation& like) {
    Computation computation;
    computation.instructions.reserve(like.instructions.size());
    computation.name = name;
    computation.offset = like.offset;
    computation.execution_thread = like.execution_thread;
    computation.is_async_sugar = like.is_async_sugar;
    return made_.computations.add(std::move(computation));
  }

  InstructionId add(Instruction instruction, ComputationId parent) {
    instruction.parent = parent;
    const InstructionId id = made_.instructions.add(instruction);
    Computation& computation = made_.computations[parent];
    computation.instructions.push_back(id);
    if (instruction.parameter_number >= 0) {
      const auto number = static_cast<size_t>(instruction.parameter_number);
      if (number >= computation.parameters.size()) computation.parameters.resize(number + 1);
      computation.parameters[number] = id;
    }
    return id;
  }

  // ── instructions ──

  /// The same with operands, attributes and shapes of the module that is made.
  Instruction with_new_ids(const Instruction& before, std::span<const Attr> attrs) {
    Instruction instruction = before;
    instruction.has_declared_shape = true;
    const auto stays = [&](InstructionId operand) { return operand == now_[operand]; };
    if (!std::all_of(before.operands.begin(), before.operands.end(), stays)) {
      const std::span<InstructionId> operands = made_.arena().copy(before.operands);
      for (InstructionId& operand : operands) operand = now_[operand];
      instruction.operands = operands;
    }
    instruction.attrs = with_new_ids(attrs);
    instruction.shape = laid_out(before.shape);
    if (follows_operands(table_[instruction.opcode])) derive_shape(instruction);
    if (before.literal) instruction.literal = with_shape(before.literal, instruction.shape);
    return instruction;
  }

  std::span<const Attr> with_new_ids(std::span<const Attr> attrs) {
    const auto names_any = [](const Attr& attr) {
      return attr.holds_computations() || attr.syntax == AttrSyntax::kInstructions;
    };
    if (std::none_of(attrs.begin(), attrs.end(), names_any)) return attrs;
    std::vector<Attr> changed(attrs.begin(), attrs.end());
    for (Attr& attr : changed) {
      if (attr.holds_computations()) attr = mapped(attr, attr.computations(), computation_now_);
      if (attr.syntax == AttrSyntax::kInstructions) attr = mapped(attr, attr.instructions(), now_);
    }
    return made_.arena().copy(std::span<const Attr>(changed));
  }

  template <class IdT>
  Attr mapped(const Attr& attr, std::span<const IdT> before, const IdMap<IdT, IdT>& now) {
    const std::span<IdT> ids = made_.arena().copy(before);
    for (IdT& id : ids) id = now[id];
    return with_list<IdT>(attr, ids);
  }

  template <class T>
  static Attr with_list(const Attr& attr, std::span<const T> list) {
    Attr changed = Attr::make_list<T>(attr.key, attr.syntax, list);
    changed.offset = attr.offset;
    return changed;
  }

  Attr with_default_layouts(const Attr& attr) {
    const std::span<ShapeRef> shapes = made_.arena().copy(attr.shapes());
    for (ShapeRef& shape : shapes) shape = laid_out(shape);
    return with_list<ShapeRef>(attr, shapes);
  }

  ShapeRef laid_out(ShapeRef shape) {
    if (shape == last_shape_) return last_laid_out_;
    ShapeRef& now = laid_out_[shape];
    if (!now) now = made_.shapes().with_default_layouts(shape);
    last_shape_ = shape, last_laid_out_ = now;
    return now;
  }

  void derive_shape(Instruction& instruction) {
    if (const ShapeRef inferred = shape_of_operands(made_, instruction, table_))
      instruction.shape = laid_out(inferred);
  }

  const Literal* with_shape(const Literal* before, ShapeRef shape) {
    if (before->shape == shape) return before;
    Literal literal = *before;
    literal.shape = shape;
    std::vector<const Literal*> elements(before->elements.begin(), before->elements.end());
    for (size_t i = 0; i < elements.size(); ++i) elements[i] = with_shape(elements[i], shape->elements[i]);
    literal.elements = made_.arena().copy(elements);
    return made_.arena().make<Literal>(literal);
  }

  // ── asynchronous operations that wrap a single one: the start's line says all there is to say of it ──

  const Attr* sugar_of(const Instruction& instruction) const {
    if (!table_[instruction.opcode].has(kAsyncStart | kAsyncUpdate | kAsyncDone)) return nullptr;
    const Instruction* start = async_start_of(from_, instruction);
    const Attr* calls = start ? start->find(AttrKey::kCalls) : nullptr;
    return calls && from_[calls->computations()[0]].is_async_sugar ? calls : nullptr;
  }
  bool is_part_of_sugar(const Instruction& instruction) const { return sugar_of(instruction) != nullptr; }

  InstructionId add_async_part(const Instruction& before, ComputationId parent) {
    if (table_[before.opcode].has(kAsyncStart)) return add_start(before, parent);
    std::vector<Attr> attrs;
    for (const Attr& attr : before.attrs)
      if (is_common_attr(attr.key) || (is_async_sugar_attr(attr.key) && attr.key != AttrKey::kCalls))
        attrs.push_back(attr);
    Instruction part = with_new_ids(before, made_.arena().copy(std::span<const Attr>(attrs)));
    bind_late(part);
    return add(part, parent);
  }

  InstructionId add_start(const Instruction& before, ComputationId parent) {
    const Attr& calls = *sugar_of(before);
    const Instruction& wrapped = from_.root(calls.computations()[0]);
    std::vector<Attr> all, own, inner;
    for (const Attr& attr : wrapped.attrs)
      if (attr.key == AttrKey::kCalls || !before.find(attr.key)) all.push_back(attr);
    for (const Attr& attr : before.attrs)
      if (attr.key != AttrKey::kCalls) all.push_back(attr);
    for (const Attr& attr : all) {
      const bool common = is_common_attr(attr.key), sugar = is_async_sugar_attr(attr.key);
      if (common || sugar) own.push_back(attr);
      if (common ? is_shared_with_wrapped(attr.key) : !sugar) inner.push_back(attr);
    }
    const Instruction start = with_new_ids(before, made_.arena().copy(std::span<const Attr>(own)));
    const ComputationId called[] = {wrap(start, wrapped, inner)};
    own.assign(start.attrs.begin(), start.attrs.end());
    own.push_back(
        with_list<ComputationId>(calls, made_.arena().copy(std::span<const ComputationId>(called))));
    Instruction made = start;
    made.attrs = made_.arena().copy(std::span<const Attr>(own));
    return add(made, parent);
  }

  /// A computation that does nothing but the wrapped operation.
  ComputationId wrap(const Instruction& start, const Instruction& wrapped, std::span<const Attr> attrs) {
    Computation like;
    like.offset = start.offset;
    like.is_async_sugar = true;
    if (const Attr* thread = start.find(AttrKey::kAsyncExecutionThread))
      like.execution_thread = thread->text().substr(1, thread->text().size() - 2);
    const std::string name = free_name("async_computation", next_name_,
                                       [&](const std::string_view one) { return names_.contains(one); });
    const ComputationId id = begin(made_.arena().copy(std::string_view(name)), like);
    const std::span<const Attr> inner = with_new_ids(made_.arena().copy(attrs));
    std::span<const ShapeRef> shapes = start.shape->elements[0]->elements;
    std::vector<ShapeRef> of_call;
    ShapeRef result = start.shape->elements[1];
    if (wrapped.opcode == Opcode::kCall)  // its parts are those of what it calls, however little is bound yet
      for (const Attr& attr : inner)
        if (attr.key == AttrKey::kToApply) {
          const ComputationId callee = attr.computations()[0];
          for (const InstructionId parameter : made_[callee].parameters)
            of_call.push_back(made_[parameter].shape);
          shapes = of_call;
          result = made_.root(callee).shape;
        }
    Instruction root;
    root.opcode = wrapped.opcode;
    root.offset = root.opcode_offset = start.opcode_offset;
    root.name = to_text(wrapped.opcode);
    root.shape = result;
    root.attrs = inner;
    std::vector<InstructionId> operands;
    for (const ShapeRef shape : shapes)
      operands.push_back(add_parameter(id, operands.size(), shape, start.opcode_offset));
    root.operands = made_.arena().copy(operands);
    made_.computations[id].root = add(root, id);
    return id;
  }

  InstructionId add_parameter(ComputationId id, size_t number, ShapeRef shape, uint32_t offset) {
    Instruction parameter;
    parameter.opcode = Opcode::kParameter;
    parameter.offset = parameter.opcode_offset = offset;
    parameter.parameter_number = static_cast<int64_t>(number);
    parameter.name = made_.arena().copy(std::string_view(fmt::format("param_{}", number)));
    parameter.shape = shape;
    return add(parameter, id);
  }

  /// An update or done may bind operands and the output that its start left open.
  void bind_late(const Instruction& part) {
    const Instruction* start = async_start_of(made_, made_[part.operands[0]]);
    const ComputationId id = start->find(AttrKey::kCalls)->computations()[0];
    const InstructionId root = made_[id].root;
    if (made_[root].opcode == Opcode::kCall) return;
    const bool is_done = table_[part.opcode].has(kAsyncDone);
    if (!is_done &&
        (!part.shape->is_tuple() || part.shape->elements.size() < 2 || !part.shape->elements[0]->is_tuple()))
      return;
    std::vector<InstructionId> operands(made_[root].operands.begin(), made_[root].operands.end());
    const size_t bound = is_done ? 0 : part.shape->elements[0]->elements.size();
    for (size_t i = operands.size(); i < bound; ++i) {
      operands.push_back(add_parameter(id, i, part.shape->elements[0]->elements[i], part.opcode_offset));
      std::vector<InstructionId>& list = made_.computations[id].instructions;
      std::swap(list[list.size() - 1], list[list.size() - 2]);  // the root stays the last
    }
    Instruction& operation = made_.instructions[root];
    if (operands.size() != operation.operands.size()) operation.operands = made_.arena().copy(operands);
    const ShapeRef result = is_done ? part.shape : part.shape->elements[1];
    const bool open = operation.shape->is_tuple() &&
                      (operation.shape->elements.empty() ||
                       (result->is_tuple() && result->elements.size() > operation.shape->elements.size()));
    if (open) operation.shape = result;
  }

  const Module& from_;
  const OpTable& table_;
  Module made_;
  IdMap<ComputationId, ComputationId> computation_now_;
  IdMap<InstructionId, InstructionId> now_;
  std::unordered_set<std::string_view> names_;  // of computations that the text names
  int64_t next_name_ = 0;                       // of one that it doesn't
  std::unordered_map<ShapeRef, ShapeRef> laid_out_;
  ShapeRef last_shape_ = nullptr, last_laid_out_ = nullptr;
};

/// Whether Compaction would make the same of it. May say no of modules of which that is so.
class Compactness {
 public:
  Compactness(Module& module, const OpTable& table) : module_(module), table_(table) {}

  bool holds() {
    for (size_t i = 0; i < module_.computations.size(); ++i)
      if (!is_compact(ComputationId{static_cast<int32_t>(i)})) return false;
    if (next_ != static_cast<int64_t>(module_.instructions.size()) || !header_is_laid_out()) return false;
    return std::ranges::is_sorted(callees_first(module_));
  }

 private:
  bool is_compact(ComputationId id) {
    const Computation& computation = module_[id];
    if (computation.is_async_sugar) return false;
    size_t parameters = 0;
    for (const InstructionId at : computation.instructions) {
      const Instruction& instruction = module_[at];
      if (at.index != next_++ || instruction.parent != id || !stays(instruction)) return false;
      if (instruction.parameter_number < 0) continue;
      const auto number = static_cast<size_t>(instruction.parameter_number);
      if (number >= computation.parameters.size() || computation.parameters[number] != at) return false;
      ++parameters;
    }
    return parameters == computation.parameters.size();
  }

  bool stays(const Instruction& instruction) {
    return instruction.has_declared_shape && is_laid_out(instruction.shape) &&
           (!instruction.literal || instruction.literal->shape == instruction.shape) &&
           (!follows_operands(table_[instruction.opcode]) ||
            !shape_of_operands(module_, instruction, table_));
  }

  bool header_is_laid_out() {
    const Attr* layout = module_.find(AttrKey::kEntryComputationLayout);
    return !layout ||
           std::ranges::all_of(layout->shapes(), [&](ShapeRef shape) { return is_laid_out(shape); });
  }

  bool is_laid_out(ShapeRef shape) {
    if (shape == last_) return true;
    bool all = true;
    for_each_leaf(shape, [&](ShapeRef leaf) {
      const ShapeRef array = leaf->is_buffer() ? leaf->elements[0] : leaf;
      all = all && (!array->is_array() || array->layout);
    });
    if (all) last_ = shape;
    return all;
  }

  Module& module_;
  const OpTable& table_;
  int64_t next_ = 0;         // the id that is next in the order of the text
  ShapeRef last_ = nullptr;  // has all its layouts
};

}  // namespace

Module compacted(const Module& module, const OpTable& table) { return compacted(module.copy(), table); }

bool is_compact(Module& module, const OpTable& table) { return Compactness(module, table).holds(); }

Module compacted(Module&& module, const OpTable& table) {
  if (is_compact(module, table)) return std::move(module);
  return made_compact(std::move(module), table);
}

Module made_compact(Module&& module, const OpTable& table) {
  Module made = std::move(module);
  Module from;  // what it holds lies in the arena of `made`
  from.instructions = std::exchange(made.instructions, {});
  from.computations = std::exchange(made.computations, {});
  from.entry = made.entry;
  from.attrs = made.attrs;
  return Compaction(from, std::move(made), table).run();
}

}  // namespace hlosim
