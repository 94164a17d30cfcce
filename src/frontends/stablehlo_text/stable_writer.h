// The pieces of to_stablehlo(): a text that grows, values by name.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/arena.h"
#include "hlo/module.h"
#include "mlir/stable_operations.h"

namespace hlosim {

using mlir::StableForm;

/// A string of MLIR with these bytes.
std::string mlir_string(std::string_view text);
/// `@text`, in quotes where it is no word.
std::string mlir_symbol(std::string_view text);

/// `{a="b",c={…}}` as names and values, escapes resolved.
std::map<std::string, std::string> frontend_attributes(const Instruction& instruction);

class StableWriter {
 public:
  explicit StableWriter(const Module& module) : module_(module) {}
  Result<std::string> write();

 private:
  /// What an instruction is in the text: one value, or several where it is a tuple that nobody had to make.
  struct Names {
    std::vector<std::string> values;
    bool is_pack = false;
  };

  // write_stablehlo.cc
  bool function(ComputationId id, std::string_view name, bool is_public);
  bool computation(ComputationId id, int indent);
  bool instruction(const Instruction& instruction, int indent);
  void bind(ComputationId id, const std::vector<Names>& arguments);
  std::string region(ComputationId id, int indent);
  std::string region_of_state(ComputationId id, int indent);
  std::string branch(ComputationId id, const Names& argument, int indent);
  void finish_region(ComputationId id, std::string_view end, int indent);
  std::string value(const Instruction& instruction, int indent);
  void emit(const Instruction& instruction, std::string_view name, const std::string& properties,
            const std::string& regions, int indent, StableForm form = StableForm::kCall);
  void emit_pretty(const Names& results, std::string_view name, const std::vector<std::string>& operands,
                   const std::vector<ShapeRef>& operand_shapes, const std::vector<ShapeRef>& result_shapes,
                   const std::string& attributes, int indent);
  void emit_line(const Names& results, std::string_view name, const std::vector<std::string>& operands,
                 const std::vector<ShapeRef>& operand_shapes, const std::vector<ShapeRef>& result_shapes,
                 const std::string& properties, const std::string& regions, int indent);
  bool control(const Instruction& instruction, StableForm form, int indent);
  bool loop(const Instruction& instruction, int indent);
  bool conditional(const Instruction& instruction, int indent);
  bool element(const Instruction& instruction, int indent);
  bool call(const Instruction& instruction, int indent);
  const std::string& symbol(ComputationId callee);
  bool check(const Instruction& instruction, int indent);
  bool random(const Instruction& instruction, int indent);
  std::vector<std::string> leaves(const Instruction& instruction, int indent);
  bool refuse(const Instruction& instruction, std::string_view why);
  bool is_bits_of_truth(const Instruction& instruction) const;
  InstructionId id_of(const Instruction& instruction) const {
    return {static_cast<int32_t>(&instruction - &*module_.instructions.begin())};
  }
  std::string fresh() { return "%" + std::to_string(values_++); }
  const Instruction& operand(const Instruction& instruction, size_t i) const {
    return module_[instruction.operands[i]];
  }

  // stable_attributes.cc
  std::optional<std::string> properties(const Instruction& instruction, StableForm form);
  std::optional<std::string> of_libraries(const Instruction& instruction, StableForm form);
  std::string windows(const Instruction& instruction, bool of_scatter) const;
  std::optional<std::string> constant(const Instruction& instruction);
  std::string convolution(const Instruction& instruction) const;
  std::string collective(const Instruction& instruction) const;
  std::optional<std::string> all_to_all(const Instruction& instruction) const;
  /// Attributes that any operation may have, behind its own.
  static std::string discardable(const Instruction& instruction, const std::string& properties);
  static std::string type(ShapeRef shape);

  const Module& module_;
  std::string out_;
  std::map<InstructionId, Names> names_;
  std::vector<ComputationId> functions_;          // called, to be written
  std::map<ComputationId, std::string> symbols_;  // of functions_
  std::set<std::string> taken_ = {"main"};
  size_t values_ = 0, operations_ = 0;
  StableForm form_ = StableForm::kCall;  // of what is emitted
  std::optional<Diagnostic> refusal_;
};

}  // namespace hlosim
