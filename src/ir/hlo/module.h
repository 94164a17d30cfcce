// The HLO module as plain values with typed ids.
//
// A Module owns an arena and a shape pool; instructions and computations hold views into them (and
// into the source text), so they are cheap to copy within their module. Analyses keep their results
// in IdMaps of their own. Ids are unique in the module; the order of a computation's instructions is
// its list of ids (the schedule when `is_scheduled`).
//
//   const Instruction& root = module.root(module.entry);
//   for (const InstructionId operand : root.operands) std::cout << module[operand].name;
//   if (const Attr* config = root.find(AttrKey::kBackendConfig)) …          // null: it has none
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/id.h"
#include "base/source.h"
#include "hlo/attr.h"
#include "hlo/literal.h"
#include "hlo/opcode.h"
#include "layout/shape.h"

namespace hlosim {

struct Instruction {
  Opcode opcode{};
  bool has_declared_shape = true;  // false: the text left it out, the reader inferred it
  uint32_t offset = 0;             // of the name, in the module's source
  uint32_t opcode_offset = 0;
  std::string_view name;  // without `%`
  ShapeRef shape = nullptr;
  std::span<const InstructionId> operands;  // of the same computation
  std::span<const Attr> attrs;              // each key once
  const Literal* literal = nullptr;         // constant
  int64_t parameter_number = -1;            // parameter
  ComputationId parent;

  const Attr* find(AttrKey key) const {
    for (const Attr& attr : attrs)
      if (attr.key == key) return &attr;
    return nullptr;
  }
};

struct Computation {
  std::string_view name;
  uint32_t offset = 0;
  std::vector<InstructionId> instructions;  // text order, operands first
  InstructionId root;
  std::vector<InstructionId> parameters;  // by parameter number
  std::string_view execution_thread = "main";
  bool is_async_sugar = false;  // made by the reader for `<op>-start`; printed as such
};

class Module {
 public:
  Module();

  std::string_view name;
  SourcePtr source;  // null for modules made by a program
  IdMap<InstructionId, Instruction> instructions;
  IdMap<ComputationId, Computation> computations;  // text order; callees_first() orders by calls
  ComputationId entry;
  std::span<const Attr> attrs;    // the header's
  std::string_view stack_frames;  // the four tables, as written; empty when absent

  /// The same module once more, in a few milliseconds however large it is: names, attributes, literals and
  /// shapes are shared, as nothing changes these where they stand. Ids and ShapeRefs of one mean the same in
  /// the other; what is added to one, the other doesn't have. Several threads may copy one module, and each
  /// go on with its copy.
  Module copy() const;

  Arena& arena() { return *arena_; }
  ShapePool& shapes() { return *shapes_; }
  const ShapePool& shapes() const { return *shapes_; }

  const Attr* find(AttrKey key) const {
    for (const Attr& attr : attrs)
      if (attr.key == key) return &attr;
    return nullptr;
  }
  const Instruction& operator[](InstructionId id) const { return instructions[id]; }
  const Computation& operator[](ComputationId id) const { return computations[id]; }
  const Computation& entry_computation() const { return computations[entry]; }
  const Instruction& root(ComputationId id) const { return instructions[computations[id].root]; }

  bool is_scheduled() const;
  int64_t replica_count() const;  // 1 when the header is silent
  int64_t num_partitions() const;

 private:
  std::unique_ptr<Arena> arena_;
  std::unique_ptr<ShapePool> shapes_;
};

/// Calls f(ComputationId) for every computation that `instruction` names, in attribute order.
template <class F>
void for_each_called(const Instruction& instruction, F&& f) {
  for (const Attr& attr : instruction.attrs)
    if (attr.holds_computations())
      for (const ComputationId called : attr.computations()) f(called);
}

}  // namespace hlosim
