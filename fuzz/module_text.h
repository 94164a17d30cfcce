// A module's text cut into what changes whole: header, computations, instructions with their shapes, operands
// and attributes.
//
//   std::optional<ModuleText> module = parse_module_text(text);      // as `hlosim print` writes it
//   module->computations[0].instructions[2].operands[0] = "%other";
//   to_text(*module)                               // nothing is checked: it may well be wrong
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hlosim::fuzz {

struct InstructionText {
  bool is_root = false;
  std::string name;                   // "%add.1"
  std::string shape, opcode;          // "f32[8]{0}", "add"
  std::vector<std::string> operands;  // "%a"; of a constant its literal, cut at commas
  std::vector<std::string> attributes;

  /// "dimensions" of "dimensions={0}".
  static std::string_view key_of(std::string_view attribute);
};

struct ComputationText {
  bool is_entry = false;
  std::string name;  // "%body"
  std::string tail;  // what stands behind the closing brace
  std::vector<InstructionText> instructions;

  /// The instruction of that name, or null.
  const InstructionText* find(std::string_view instruction) const;
  /// Of `instructions`; what has none is as large.
  size_t root() const;
};

struct ModuleText {
  std::string name;                     // "HloModule m"
  std::vector<std::string> attributes;  // "is_scheduled=true"
  std::string tables;                   // of files and stack frames
  std::vector<ComputationText> computations;

  const ComputationText* find(std::string_view computation) const;
  void drop_attribute(std::string_view key);
};

/// Null: it is no text of one module as the printer writes it.
std::optional<ModuleText> parse_module_text(std::string_view text);
std::optional<InstructionText> parse_instruction_text(std::string_view line);

std::string to_text(const InstructionText& instruction);
std::string to_text(const ModuleText& module);

}  // namespace hlosim::fuzz
