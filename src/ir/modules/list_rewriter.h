// One walk over a computation that replaces instructions by others.
//
//   ListRewriter rewriter(editor, table);
//   rewriter.run(module.entry, [&](InstructionId id) {
//     return is_copy(module[id]) ? module[id].operands[0] : id;       // every copy by what it copies
//   });
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "modules/edit.h"

namespace hlosim {

/// Goes through the needed instructions of computations, operands first, with replaced operands in place.
/// Instructions that wait for others by control dependencies are left alone.
class ListRewriter {
 public:
  /// Instructions that others wait for by control dependencies: left alone, or replaced as well, and then
  /// waited for in their new form.
  enum class WaitedFor : uint8_t { kStays, kMayGo };
  ListRewriter(ModuleEditor& editor, const OpTable& table, WaitedFor waited_for = WaitedFor::kStays)
      : editor_(editor), module_(editor.module()), table_(table), waited_for_(waited_for) {}

  /// `visit` says what takes the place of an instruction: itself, one that stands before it, or one that it
  /// adds. Afterwards only what is needed is left.
  void run(ComputationId id, const std::function<InstructionId(InstructionId)>& visit);

  /// For `visit`: a new instruction before the visited one.
  InstructionId add(Opcode opcode, ShapeRef shape, std::initializer_list<InstructionId> operands,
                    std::span<const Attr> attrs = {}) {
    return add(to_text(opcode), opcode, shape, {operands.begin(), operands.size()}, attrs);
  }
  InstructionId add(std::string_view name, Opcode opcode, ShapeRef shape,
                    std::span<const InstructionId> operands, std::span<const Attr> attrs = {});
  /// What `like` does, to other arrays, of which its sharding says nothing.
  InstructionId add_like(const Instruction& like, std::string_view name, ShapeRef shape,
                         std::span<const InstructionId> operands);

  ModuleEditor& editor() { return editor_; }
  Module& module() { return module_; }
  const OpTable& table() const { return table_; }
  ComputationId computation() const { return computation_; }

 private:
  InstructionId latest(InstructionId id) const;
  void forward(InstructionId id);

  ModuleEditor& editor_;
  Module& module_;
  const OpTable& table_;
  WaitedFor waited_for_;
  ComputationId computation_;
  InstructionId visited_;
  std::vector<InstructionId> list_;
  IdMap<InstructionId, InstructionId> instead_;  // of all instructions; invalid: the instruction itself
  std::vector<InstructionId> replaced_;          // those of the last list that have another one
};

}  // namespace hlosim
