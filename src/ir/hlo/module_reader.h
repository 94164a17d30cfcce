// The reader of one module: header, computations, instructions. Internal to src/ir/hlo; use reader.h.
//
// After an error inside an instruction the reader goes on at the next line that looks like one, so
// that one run reports several errors. The name of a broken instruction stays known, as "poisoned":
// what uses it is broken too, but not reported; and so with a computation that has broken instructions.
//
//   ModuleReader reader(source, begin, end, table, AttrIndex(table), diagnostics);
//   if (reader.read()) modules.push_back(reader.take());
//   begin = reader.offset();                  // where the next module begins
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/resource_limits.h"
#include "base/source.h"
#include "hlo/attr_reader.h"
#include "hlo/cursor.h"
#include "hlo/module.h"
#include "hlo/name_table.h"
#include "hlo/op_def.h"
#include "layout/shape_text.h"

namespace hlosim {

/// For each opcode and attribute key: the spec, if the opcode takes the attribute.
class AttrIndex {
 public:
  explicit AttrIndex(const OpTable& table);
  const AttrSpec* find(Opcode opcode, AttrKey key) const {
    return index_[static_cast<size_t>(opcode)][static_cast<size_t>(key)];
  }

 private:
  std::array<std::array<const AttrSpec*, kAttrKeyCount>, kOpcodeCount> index_{};
};

/// Attributes that every instruction takes.
std::span<const AttrSpec> common_attrs();
bool is_common_attr(AttrKey key);
/// Attributes that `<op>-start` takes besides those of its operation.
bool is_async_sugar_attr(AttrKey key);
/// Attributes that an async start shares with the operation it wraps.
bool is_shared_with_wrapped(AttrKey key);

class ModuleReader final : private NameResolver {
 public:
  ModuleReader(const SourcePtr& source, size_t begin, size_t end, const OpTable& table,
               const AttrIndex& attrs, DiagnosticList& diagnostics, const Limits& limits);

  /// Reads one module; false when it has errors. Afterwards offset() is behind it.
  bool read();
  size_t offset() const { return in_.offset(); }
  Module take() { return std::move(module_); }

 private:
  static constexpr int32_t kPoisoned = -2;
  static constexpr int kMaxDepth = 1000;  // of inline computations and nested instructions

  /// What is known while one computation is read.
  struct Scope {
    ComputationId id;
    NameTable names;  // that the text gives
    NameTable made_up_names;
    std::vector<InstructionId> instructions;
    std::vector<InstructionId> made_up;
    std::unordered_map<std::string, int64_t> next_numbers;  // of made-up names, by base
    std::vector<InstructionId> parameters;
    InstructionId root;
    bool has_root = false;
    bool invents_parameters = false;  // a single instruction: unknown operands become parameters
    bool broken = false;
  };

  /// An instruction on its way: what was read of it so far.
  struct Draft {
    Instruction instruction;
    bool is_root = false;
    bool poisoned = false;       // uses a broken instruction
    bool made_up = false;        // the text gives it no name
    bool sugared = false;        // `<op>-start`, -update or -done
    Opcode wrapped{};            // of a sugared one
    std::string_view direction;  // of a comparison in the spelling of old texts
    size_t first_operand = 0;    // in operand_stack_
    size_t first_attr = 0;       // in attr_stack_
  };

  // module_reader.cc
  bool read_header();
  bool read_header_attributes();
  bool read_stack_frames();
  bool read_module_body();
  bool read_computation(bool& is_entry, ComputationId& id);
  bool read_signature(std::vector<ShapeRef>& parameters, ShapeRef& result);
  bool read_single_instruction();
  bool finish_module(ComputationId declared_entry, ComputationId last);
  bool starts_single_instruction();
  ComputationId begin_computation(std::string_view name, size_t offset);
  bool read_body(Scope& scope);
  bool finish_computation(Scope& scope, size_t end_offset);
  void recover(size_t start);
  int64_t line_defining(std::string_view name) const;
  bool at_instruction_start();
  Scope& push_scope();
  void pop_scope() { --depth_; }
  void report();
  ComputationId make_up_computation(std::string_view base, Computation computation);
  void rename_made_up_computations();

  // instruction_reader.cc, instruction_attributes.cc, async_sugar.cc
  bool read_name(std::string_view& name, const char* what);
  bool read_instruction(Scope& scope);
  bool read_right_side(Scope& scope, Draft& draft, bool with_attributes);
  bool read_opcode(Draft& draft);
  bool read_parameter(Scope& scope, Draft& draft);
  bool read_operands(Scope& scope, Draft& draft);
  bool read_operand(Scope& scope, Draft& draft);
  bool read_named_operand(Scope& scope, Draft& draft, ShapeRef declared, size_t start);
  bool read_nested_operand(Scope& scope, size_t start);
  bool invent_parameter(Scope& scope, std::string_view name, ShapeRef shape);
  bool select_element(Scope& scope, InstructionId& id, std::string_view name, size_t start);
  bool check_operand_count(const Draft& draft);
  bool has_operand_count(const Instruction& instruction) const;
  bool read_attributes(Scope& scope, Draft& draft);
  bool read_attribute(Draft& draft, uint64_t (&seen)[2]);
  bool read_legacy_attribute(Draft& draft, std::string_view word, uint64_t (&seen)[2], bool& handled);
  bool read_group_ids(Attr& attr);
  bool mark_seen(AttrKey key, size_t start, uint64_t (&seen)[2]);
  bool read_constant(Draft& draft);
  const AttrSpec* find_attribute(const Draft& draft, AttrKey key) const;
  bool check_required(const Draft& draft, const uint64_t (&seen)[2]);
  bool finish_instruction(Scope& scope, Draft& draft);
  bool derive_shape(Draft& draft);
  bool check_async(const Draft& draft);
  std::vector<InstructionId> make_parameters(Scope& scope, std::span<const ShapeRef> shapes, uint32_t offset);
  bool wrap_async_start(Draft& draft);
  void bind_late(const Draft& draft);
  const ComputationId* called_by_sugar(Opcode wrapped, std::span<const Attr> attrs) const;
  InstructionId add_instruction(Scope& scope, const Instruction& instruction, bool made_up = false);
  std::string_view made_up_name(Scope& scope, std::string_view base);
  void rename_made_up_instructions(Scope& scope);

  // NameResolver
  bool read_computation(ComputationId& id) override;
  bool read_instruction(InstructionId& id) override;

  SourcePtr source_;
  Module module_;
  Cursor in_;
  const OpTable& table_;
  const AttrIndex& attr_index_;
  DiagnosticList& diagnostics_;
  ShapeReader shapes_;
  AttrReader values_;
  NameTable computation_names_;  // that the text gives
  /// Computations that stand in the text without a name, and those of `<op>-start`.
  struct MadeUp {
    ComputationId id;
    std::string_view base;
  };
  std::vector<MadeUp> made_up_computations_;
  std::unordered_map<std::string_view, int64_t> next_computation_numbers_;  // of made-up names, by base
  std::deque<Scope> scopes_;  // by depth of inline computations; kept for reuse
  size_t depth_ = 0;
  int nesting_ = 0;
  std::vector<InstructionId> operand_stack_;
  std::vector<Attr> attr_stack_;
  bool poisoned_use_ = false;
  std::unordered_map<ShapeRef, ShapeRef> with_layouts_;
  ShapeRef last_shape_ = nullptr, last_with_layouts_ = nullptr;

  ShapeRef with_default_layouts(ShapeRef shape);
};

}  // namespace hlosim
