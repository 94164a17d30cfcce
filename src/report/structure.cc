#include "report/structure.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/hash.h"
#include "hlo/graph.h"
#include "hlo/printer.h"
#include "layout/shape_text.h"

namespace hlosim {
namespace {

uint64_t mixed(uint64_t hash, uint64_t word) { return WordHash<29>(hash).add_word(word).value(); }

uint64_t mixed(uint64_t hash, std::string_view text) {
  return WordHash<29>(hash).add_word(text.size()).add_text(text).value();
}

class Hasher {
 public:
  Hasher(const Module& module, const OpTable& table)
      : module_(module),
        table_(table),
        computations_(module.computations.size()),
        orders_(module.computations.size()),
        seen_(module.instructions.size()) {
    result_.own = result_.deep = IdMap<InstructionId, uint64_t>(module.instructions.size());
  }

  Structure run() {
    for (const ComputationId id : callees_first(module_)) computations_[id] = computation(id);
    // The header as an instruction without operands: its attributes are written alike.
    Instruction header =
        module_.entry_computation().instructions.empty() ? Instruction{} : module_.root(module_.entry);
    header.attrs = module_.attrs;
    header.literal = nullptr;
    header.parameter_number = -1;
    result_.module = mixed(own(header), computations_[module_.entry]);
    if (module_.is_scheduled()) result_.module = mixed(result_.module, orders_[module_.entry]);
    add_names();
    return std::move(result_);
  }

 private:
  void add_names() {
    IdMap<ComputationId, uint8_t> is_wrapped(module_.computations.size());
    for (const Instruction& instruction : module_.instructions)
      if (table_[instruction.opcode].has(kAsyncStart))
        for_each_called(instruction, [&](ComputationId called) { is_wrapped[called] = 1; });
    uint64_t sum = 0;
    for (size_t i = 0; i < module_.computations.size(); ++i) {
      const ComputationId id{static_cast<int32_t>(i)};
      if (is_wrapped[id]) continue;
      uint64_t names = mixed(5, module_[id].name);
      for (const InstructionId inside : module_[id].instructions)
        names += mixed(result_.deep[inside], module_[inside].name);
      sum += mixed(6, names);
    }
    // Times rest on the order of lines even where it means nothing.
    result_.named = mixed(mixed(mixed(result_.module, module_.name), sum), orders_[module_.entry]);
  }

  uint64_t shape(ShapeRef shape) {
    const auto [known, is_new] = shapes_.try_emplace(shape);
    if (is_new) known->second = mixed(0, to_text(shape));
    return known->second;
  }

  uint64_t own(const Instruction& instruction) {
    uint64_t hash = mixed(static_cast<uint64_t>(instruction.opcode), shape(instruction.shape));
    hash = mixed(hash, static_cast<uint64_t>(instruction.parameter_number));
    if (instruction.literal) hash = mixed(hash, to_text(*instruction.literal));
    plain_.clear();
    // In whichever order the text has them.
    sorted_.assign(instruction.attrs.begin(), instruction.attrs.end());
    std::stable_sort(sorted_.begin(), sorted_.end(),
                     [](const Attr& a, const Attr& b) { return a.key < b.key; });
    for (const Attr& attr : sorted_) {
      if (attr.key == AttrKey::kMetadata || attr.syntax == AttrSyntax::kInstructions) continue;
      if (!attr.holds_computations()) {
        plain_.push_back(attr);
        continue;
      }
      hash = mixed(hash, static_cast<uint64_t>(attr.key));
      for (const ComputationId called : attr.computations()) hash = mixed(hash, computations_[called]);
    }
    if (plain_.empty()) return hash;
    Instruction bare = instruction;
    bare.name = {};
    bare.operands = {};
    bare.literal = nullptr;
    bare.parameter_number = -1;
    bare.attrs = plain_;
    return mixed(hash, to_text(module_, bare, table_));
  }

  uint64_t deep(InstructionId id) {
    const Instruction& instruction = module_[id];
    uint64_t hash = mixed(1, result_.own[id]);
    for (const InstructionId operand : instruction.operands) hash = mixed(hash, result_.deep[operand]);
    for (const Attr& attr : instruction.attrs) {
      if (attr.syntax != AttrSyntax::kInstructions) continue;
      uint64_t sum = 0;  // a set; its members may stand further down
      for (const InstructionId other : attr.instructions()) sum += mixed(2, result_.own[other]);
      hash = mixed(hash, sum);
    }
    return hash;
  }

  // From the users down: distinguishes what one instruction used twice and two equal ones used once each.
  uint64_t computation(ComputationId number) {
    const Computation& computation = module_[number];
    const std::vector<InstructionId>& list = computation.instructions;
    for (const InstructionId id : list) result_.own[id] = own(module_[id]);
    for (const InstructionId id : list) result_.deep[id] = deep(id);
    uint64_t hash = mixed(3, computation.execution_thread), sum = 0, order = 0;
    for (size_t i = list.size(); i-- > 0;) {
      const InstructionId id = list[i];
      const uint64_t whole = mixed(mixed(result_.deep[id], seen_[id]), id == computation.root ? 1 : 0);
      for (size_t operand = 0; operand < module_[id].operands.size(); ++operand)
        seen_[module_[id].operands[operand]] += mixed(whole, operand);
      sum += mixed(4, whole);
      if (module_[id].parameter_number < 0) order = mixed(order, whole);
      uint64_t inside = 0;  // of several, in no order
      for_each_called(module_[id], [&](ComputationId called) { inside += mixed(7, orders_[called]); });
      if (inside != 0) order = mixed(order, inside);
    }
    orders_[number] = order;
    return mixed(hash, sum);
  }

  const Module& module_;
  const OpTable& table_;
  Structure result_;
  IdMap<ComputationId, uint64_t> computations_;
  IdMap<ComputationId, uint64_t> orders_;  // of the lines, and of those of what is called
  IdMap<InstructionId, uint64_t> seen_;    // by its users
  std::unordered_map<ShapeRef, uint64_t> shapes_;
  std::vector<Attr> sorted_, plain_;
};

}  // namespace

Structure structure_of(const Module& module, const OpTable& table) { return Hasher(module, table).run(); }

}  // namespace hlosim
