// Instructions that hold expressions together: loops, stacks of values with one part a layer, memory.
//
//   BodyWriter writer(parts, body);
//   const InstructionId part = writer.part_of(stack, turn, 0);      // [layers, 8, 16] -> [8, 16]
//   const std::vector<InstructionId> out = count_loop(parts, body, state, 32, turn_of_the_loop);
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "workloads/expression_emitter.h"

namespace hlosim {

class BodyWriter {
 public:
  BodyWriter(ModelParts& parts, ModuleBuilder::Body& body) : parts_(parts), body_(body) {}

  ModuleBuilder& builder() { return parts_.builder(); }
  InstructionId number(int64_t value);
  InstructionId subtract(InstructionId a, InstructionId b);
  InstructionId sum(InstructionId a, InstructionId b);
  InstructionId reshaped(InstructionId value, const Dims& dims);
  /// `sharding` may be empty.
  InstructionId zeros(ShapeRef shape, const std::string& sharding);
  InstructionId tuple(const std::vector<InstructionId>& elements);
  InstructionId element(InstructionId tuple, int64_t index);
  /// Memory that somebody will write; `sharding` may be empty.
  InstructionId allocate(ShapeRef shape, const std::string& sharding);
  /// Part `index` of the stack along `axis`, without that dimension; on the device, wherever the stack is.
  InstructionId part_of(InstructionId stack, InstructionId index, int64_t axis);
  /// The stack with part `index` along `axis` written.
  InstructionId with_part(InstructionId stack, InstructionId part, InstructionId index, int64_t axis);
  /// A copy in the host's memory, or back.
  InstructionId moved(InstructionId value, int64_t memory_space);
  /// The values behind a barrier.
  std::vector<InstructionId> barrier(const std::vector<InstructionId>& values);
  ShapeRef shape(InstructionId id) { return builder().module()[id].shape; }

 private:
  InstructionId add(Opcode opcode, const std::vector<InstructionId>& operands,
                    const std::vector<Attr>& attrs = {}, ShapeRef shape = nullptr);
  std::vector<InstructionId> starts(InstructionId index, int64_t axis, int64_t rank);

  ModelParts& parts_;
  ModuleBuilder::Body& body_;
};

/// One turn: the loop's body, its counter and its state to the next state, all of the same shapes.
using LoopTurn = std::function<std::vector<InstructionId>(ModuleBuilder::Body& body, InstructionId counter,
                                                          const std::vector<InstructionId>& state)>;
/// Runs `turn` `count` times, counting from 0; the last state.
std::vector<InstructionId> count_loop(ModelParts& parts, ModuleBuilder::Body& body,
                                      const std::vector<InstructionId>& state, int64_t count,
                                      const std::string& name, const LoopTurn& turn);

}  // namespace hlosim
