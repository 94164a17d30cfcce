#include "modules/module_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "hlo/frontend.h"
#include "hlo/user_index.h"
#include "modules/async_chains.h"
#include "modules/buffers_check.h"
#include "modules/original_value.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

class ModuleRules {
 public:
  ModuleRules(const Module& module, const OpTable& table, DiagnosticList& diagnostics)
      : module_(module), table_(table), diagnostics_(diagnostics) {}

  void run() {
    graph_rules();
    // Last: a chain that breaks off in a tuple is found before the tuple's shape, as by XLA.
    for (const Instruction& instruction : module_.instructions) tuple(instruction);
  }

 private:
  void graph_rules() {
    bool has_async = false, has_fusions = false, has_buffers = false;
    for (const Instruction& instruction : module_.instructions) {
      const OpDef& def = table_[instruction.opcode];
      has_async |= def.has(kAsyncStart | kAsyncUpdate | kAsyncDone);
      has_fusions |= def.has(kFusion);
      original_value(instruction);
      has_buffers |= instruction.shape->is_buffer() ||
                     (instruction.shape->is_tuple() && holds_buffer(instruction.shape));
    }
    constrained_all_reduces();
    if (!has_async && !has_fusions && !has_buffers) return;
    const UserIndex users(module_);
    if (has_async) {
      async_computations(users);
      check_async_chains(module_, users, diagnostics_);
      host_channels();
    }
    if (has_fusions) fused_computations(users);
    if (has_buffers) check_buffers(module_, users, diagnostics_);
  }

  template <class... Args>
  void error(uint32_t offset, fmt::format_string<Args...> format, Args&&... args) {
    Diagnostic diagnostic;
    diagnostic.message = fmt::format(format, std::forward<Args>(args)...);
    diagnostic.source = module_.source;
    diagnostic.offset = offset;
    diagnostics_.add(std::move(diagnostic));
  }

  /// A tuple is declared as what its operands are. Requires: it has as many elements.
  void tuple(const Instruction& instruction) {
    if (op_rules(instruction).value != ValueRule::kTuple) return;
    const auto elements = instruction.shape->elements;
    for (size_t i = 0; i < elements.size(); ++i) {
      const ShapeRef operand = module_[instruction.operands[i]].shape;
      if (compatible(operand, elements[i])) continue;
      error(instruction.opcode_offset, "{}: element {} of the declared shape is {}, but operand {} is {}",
            to_text(instruction.opcode), i, to_text_without_layout(elements[i]), i,
            to_text_without_layout(operand));
      return;
    }
  }

  /// origin names one value per leaf of the shape.
  void original_value(const Instruction& instruction) {
    for (const Attr& attr : instruction.attrs)
      if (attr.key == AttrKey::kOrigin && !original_value_fits(attr.text(), instruction.shape))
        error(attr.offset, "{}: origin of {} is not nested as the shape {}", to_text(instruction.opcode),
              instruction.name, to_text_without_layout(instruction.shape));
  }

  static bool holds_buffer(ShapeRef shape) {
    for (const ShapeRef element : shape->elements)
      if (element->is_buffer() || (element->is_tuple() && holds_buffer(element))) return true;
    return false;
  }

  /// All or none of a module's all-reduces have constrain_layout.
  void constrained_all_reduces() {
    const Instruction* first = nullptr;
    const auto constrained = [](const Instruction& instruction) {
      const Attr* attr = instruction.find(AttrKey::kConstrainLayout);
      return attr && attr->flag();
    };
    for (const Instruction& instruction : module_.instructions) {
      const OpRules& rules = table_[instruction.opcode].rules;
      if (rules.async_kind != AsyncKind::kAllReduce || rules.async_part == AsyncPart::kDone) continue;
      if (!first) first = &instruction;
      if (constrained(*first) == constrained(instruction)) continue;
      error(instruction.opcode_offset,
            "{}: {} has constrain_layout={}, {} has {}; expected all all-reduces of a module to agree",
            to_text(instruction.opcode), instruction.name, constrained(instruction), first->name,
            constrained(*first));
      return;
    }
  }

  /// What an async-start of the main thread wraps is one instruction and its parameters, unless the start
  /// is marked as a group of collectives or the computation only takes tuples apart.
  void async_computations(const UserIndex& users) {
    for (size_t c = 0; c < module_.computations.size(); ++c) {
      const ComputationId id{static_cast<int32_t>(c)};
      const Computation& computation = module_[id];
      if (computation.is_async_sugar || computation.execution_thread != "main") continue;
      const Instruction* start = nullptr;
      bool grouped = true, elsewhere = false;
      for (const InstructionId caller : users.callers(id)) {
        if (op_rules(module_[caller]).value != ValueRule::kAsyncStart) continue;
        const Attr* thread = module_[caller].find(AttrKey::kAsyncExecutionThread);
        if (thread && thread->text() != "\"main\"") elsewhere = true;
        grouped = !start && frontend_attribute(module_[caller], "_collectives_group").has_value();
        start = &module_[caller];
      }
      if (!start || grouped || elsewhere) continue;
      bool single = true, barrier = true;
      for (const InstructionId i : computation.instructions) {
        if (i == computation.root || module_[i].parameter_number >= 0) continue;
        single = false;
        barrier &= is_tuple_element(module_[i]);
      }
      if (!single && !barrier)
        error(computation.offset,
              "asynchronous computation {} is expected to contain only the root and parameter instructions",
              computation.name);
    }
  }

  /// Host transfers of one channel and direction are the same but for their operands, and for what says
  /// nothing of the transfer itself. A send and a recv may share a channel.
  void host_channels() {
    std::map<std::pair<int64_t, Opcode>, const Instruction*> first_of;
    for (const Instruction& transfer : module_.instructions) {
      const OpRules& rules = table_[transfer.opcode].rules;
      const bool transfers =
          rules.async_kind == AsyncKind::kSendHost || rules.async_kind == AsyncKind::kRecvHost;
      if (!transfers || rules.async_part != AsyncPart::kStart) continue;
      const Attr* host = transfer.find(AttrKey::kIsHostTransfer);
      const Attr* channel = transfer.find(AttrKey::kChannelId);
      if (!host || !host->flag() || !channel) continue;
      const auto [at, is_new] = first_of.emplace(std::pair(channel->integer(), transfer.opcode), &transfer);
      const Instruction& first = *at->second;
      if (is_new || same_transfer(first, transfer)) continue;
      error(transfer.opcode_offset,
            "{}: {} and {} use channel {} and must be identical but for their operands",
            to_text(transfer.opcode), first.name, transfer.name, channel->integer());
    }
  }

  bool same_transfer(const Instruction& a, const Instruction& b) const {
    if (a.shape != b.shape || a.operands.size() != b.operands.size()) return false;
    for (size_t i = 0; i < a.operands.size(); ++i)
      if (module_[a.operands[i]].shape != module_[b.operands[i]].shape) return false;
    for (const AttrKey key : {AttrKey::kSharding, AttrKey::kFrontendAttributes, AttrKey::kBackendConfig}) {
      const Attr *of_a = a.find(key), *of_b = b.find(key);
      if ((of_a ? of_a->text() : "") != (of_b ? of_b->text() : "")) return false;
    }
    return true;
  }

  /// Nothing uses the root of a fused computation; everything else is used or has a side effect.
  void fused_computations(const UserIndex& users) {
    IdMap<ComputationId, uint8_t> done(module_.computations.size());
    for (const Instruction& fusion : module_.instructions) {
      if (!table_[fusion.opcode].has(kFusion)) continue;
      const ComputationId id = fusion.find(AttrKey::kCalls)->computations()[0];
      if (id == module_.entry)
        error(fusion.opcode_offset, "the entry computation {} cannot be fused", module_[id].name);
      if (done[id]++) continue;
      for (const InstructionId i : module_[id].instructions) {
        const Instruction& instruction = module_[i];
        const bool used = !users.users(i).empty();
        if (i == module_[id].root && used)
          error(instruction.opcode_offset, "{}, the root of fused computation {}, may not have users",
                instruction.name, module_[id].name);
        if (i != module_[id].root && !used && !has_side_effect(instruction))
          error(instruction.opcode_offset, "{} is not used in fused computation {}", instruction.name,
                module_[id].name);
      }
    }
  }

  bool has_side_effect(const Instruction& instruction) const {
    const auto flag = [&](AttrKey key) {
      const Attr* attr = instruction.find(key);
      return attr && attr->flag();
    };
    if (instruction.opcode == Opcode::kRng || table_[instruction.opcode].has(kSideEffect)) return true;
    if (instruction.find(AttrKey::kCustomCallTarget)) return flag(AttrKey::kCustomCallHasSideEffect);
    const bool collective = table_[instruction.opcode].has(kCollective);
    if (collective && table_[instruction.opcode].has(kAsyncStart | kAsyncDone)) return true;
    return collective && (instruction.find(AttrKey::kChannelId) || flag(AttrKey::kConstrainLayout));
  }

  const Module& module_;
  const OpTable& table_;
  DiagnosticList& diagnostics_;
};

}  // namespace

bool check_module_rules(Module& module, const OpTable& table, DiagnosticList& diagnostics) {
  const size_t before = diagnostics.error_count();
  ModuleRules(module, table, diagnostics).run();
  return diagnostics.error_count() == before;
}

}  // namespace hlosim
