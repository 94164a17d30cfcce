// The lines of HLO text that may be cut anywhere: computations and instructions by their outer form alone.
//
//   PartialLines lines = parse_lines("%add.1 = f32[4]{0} add(f32[4]{0} %a, f32[4]{0} %b)");
//   lines.computations[0].instructions[0].operands[1].type    // "f32[4]{0}"
//   text_of(lines)                                            // the same again, but for what was changed
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hlosim {

struct PartialOperand {
  std::string name;  // without %; empty: none that is a name (a literal, a number)
  std::string type;  // empty: not written
};

struct PartialInstruction {
  enum Becomes : uint8_t { kStays, kBecomesParameter, kBecomesCustomCall };

  size_t line = 0;  // from 0
  size_t lines = 1;
  bool is_root = false;
  std::string name, type, opcode, inside, attributes;  // inside: the operands' text; type: empty: not written
  std::vector<PartialOperand> operands;
  std::vector<std::string> called;  // computations that its attributes name
  Becomes becomes = kStays;

  bool is_parameter() const { return opcode == "parameter"; }
};

struct AddedParameter {
  std::string name, type;
  size_t line = 0;
};

struct PartialComputation {
  std::string name;
  std::optional<size_t> header;  // the line of its module's, where there is one
  size_t line = 0;               // of its header; of its first instruction where it has none
  bool is_entry = false;         // the entry, or bare
  bool is_bare = false;          // instructions without a computation around them
  std::string closing;           // its last line: a brace, and what is said after it; empty: it isn't there
  bool is_whole = true;          // can be called by what calls it
  std::vector<PartialInstruction> instructions;
  std::vector<AddedParameter> added;
  std::string added_root, added_root_type;  // an instruction after the others
  std::string made_entry;                   // of a module whose last computation this is

  const std::string& result_type() const;
  /// Name and type, by number; those that were added come last.
  std::vector<std::pair<std::string, std::string>> parameters() const;
  bool is_fused() const;       // the body of a fusion, as XLA names it
  bool is_of_scalars() const;  // what reductions apply
  bool has_product() const;
};

struct PartialLines {
  std::vector<std::string_view> lines;
  std::vector<size_t> offsets;        // of the lines in the text, and of its end
  std::vector<size_t> headers;        // of modules
  std::optional<size_t> cut_line;     // the last one, unfinished
  std::optional<size_t> first, last;  // lines that are HLO
  std::vector<size_t>
      others;  // lines that are neither, before the end: the reader's to understand, or to complain of
  std::vector<PartialComputation> computations;

  /// The header of its module says that instructions run in their order, so that none is dropped.
  bool is_scheduled(const PartialComputation& computation) const;
  /// The computations behind each header that has some, and those before the first.
  std::vector<std::span<PartialComputation>> modules();
};

/// Which instruction stands in a line. Requires: `lines` outlives it, and keeps its instructions.
class InstructionLines {
 public:
  explicit InstructionLines(PartialLines& lines);
  /// Null: none.
  PartialInstruction* at(size_t line) const;

 private:
  std::vector<PartialInstruction*> sorted_;  // by line
};

/// Blanks where comments stood, so that nothing else moves.
void blank_comments(std::string& text);

/// `text` outlives the result, and has no comments.
PartialLines parse_lines(std::string_view text);

/// Every line where it was.
std::string text_of(PartialLines& lines);

}  // namespace hlosim
