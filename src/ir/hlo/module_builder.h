// Makes a module instruction by instruction: shapes are inferred, operands and attributes checked by the
// opcode's row, and faults reported where the instruction came from.
//
//   ModuleBuilder builder(source, op_table(), findings);
//   ModuleBuilder::Body body;
//   const InstructionId x = builder.parameter(body, shape, "x", {offset});
//   const InstructionId operands[] = {x, x};
//   const InstructionId sum = builder.add(body, Opcode::kAdd, operands, {}, nullptr, {offset});
//   const ComputationId main = builder.close(body, "main", sum, 0);
//   if (!builder.failed()) Module module = builder.finish("m", main, {});
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/source.h"
#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

class AttrIndex;

/// After a failure everything that is added is an invalid id, and nothing more is reported: callers may go on
/// to the end of what they are about and ask then.
class ModuleBuilder {
 public:
  /// `table` and `diagnostics` outlive the builder.
  ModuleBuilder(SourcePtr source, const OpTable& table, DiagnosticList& diagnostics);
  ~ModuleBuilder();

  /// Where an instruction comes from.
  struct Place {
    uint32_t offset = 0;        // in the source
    std::string_view metadata;  // `{op_name="x"}`, kept in the arena; empty: none
  };
  /// A computation on its way.
  struct Body {
    std::vector<InstructionId> instructions, parameters;
  };

  Module& module() { return module_; }
  const OpTable& table() const { return table_; }
  DiagnosticList& diagnostics() { return diagnostics_; }
  bool failed() const { return failed_; }

  InstructionId parameter(Body& body, ShapeRef shape, std::string_view name, Place place,
                          std::span<const Attr> attrs = {});
  InstructionId constant(Body& body, const Literal* literal, Place place, std::span<const Attr> attrs = {});
  /// `shape` null: inferred. Attributes take the syntax that the opcode's row gives them.
  InstructionId add(Body& body, Opcode opcode, std::span<const InstructionId> operands,
                    std::span<const Attr> attrs, ShapeRef shape, Place place);
  /// One more attribute, or another value for one.
  void set_attr(InstructionId id, const Attr& attr);

  /// The body as a computation; what it calls is closed before.
  ComputationId close(const Body& body, std::string_view name, InstructionId root, uint32_t offset);
  /// The module, not yet verified. Requires: nothing failed.
  Module finish(std::string_view name, ComputationId entry, std::span<const Attr> attrs);

  /// Reports an error; the builder has failed then.
  void fail(uint32_t offset, std::string message, std::string hint = {});

  /// The shape with default layouts where it has none.
  ShapeRef laid_out(ShapeRef shape) { return module_.shapes().with_default_layouts(shape); }
  ShapeRef shape(InstructionId id) { return id.valid() ? module_[id].shape : nothing_; }

  // Attributes, kept in the module's arena.
  Attr ints(AttrKey key, std::span<const int64_t> values);
  Attr lists(AttrKey key, const std::vector<std::vector<int64_t>>& lists);
  Attr text(AttrKey key, std::string_view text);
  /// With quotes around it and what has to be escaped escaped.
  Attr quoted(AttrKey key, std::string_view text);
  Attr computations(AttrKey key, std::span<const ComputationId> ids);
  Attr words(AttrKey key, std::span<const std::string> words);

 private:
  InstructionId append(Body& body, Instruction instruction, std::string_view name, Place place);
  bool accept(Instruction& instruction, std::vector<Attr>& attrs);
  bool accept_attributes(const Instruction& instruction, std::vector<Attr>& attrs);
  std::string_view unique(std::string_view base);

  const OpTable& table_;
  DiagnosticList& diagnostics_;
  Module module_;
  std::unique_ptr<const AttrIndex> accepted_;
  std::unordered_map<std::string_view, int64_t> names_;  // how often each base was asked for
  ShapeRef nothing_ = nullptr;
  bool failed_ = false;
};

/// `text` as it stands between quotes in HLO text.
std::string escaped(std::string_view text);

}  // namespace hlosim
