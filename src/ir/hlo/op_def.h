// What an opcode has to provide. src/ir/ops fills one OpDef per opcode; the reader, the verifier, the
// cost and timing models read the table and never name an opcode themselves.
//
//   const OpDef& def = table[instruction.opcode];
//   if (def.has(kCollective)) …
//   if (def.work) def.work(OpContext(module, instruction, table, nullptr), work);
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hlo/attr.h"
#include "hlo/evaluation_kind.h"
#include "hlo/module.h"
#include "hlo/op_rules.h"
#include "layout/element_op.h"

namespace hlosim {

struct AttrSpec {
  AttrKey key;
  AttrSyntax syntax;
  bool required = false;
};

/// Number of operands: exactly `min` when min == max; max < 0 = no upper limit.
struct Arity {
  int min = 0;
  int max = -1;
};
constexpr Arity exactly(int n) { return {n, n}; }
constexpr Arity at_least(int n) { return {n, -1}; }

/// What callers outside src/ir/ops may ask of an opcode.
enum OpTrait : uint32_t {
  kElementwise = 1u << 0,  // result element i depends on operand elements i only
  kAsyncStart = 1u << 1,   // begins something that a matching done ends
  kAsyncUpdate = 1u << 2,
  kAsyncDone = 1u << 3,
  kCollective = 1u << 4,     // talks to other devices
  kSideEffect = 1u << 5,     // must run even when nothing uses it
  kCallsInline = 1u << 6,    // runs its computations as control flow (call, while, conditional)
  kFusion = 1u << 7,         // its computation has no storage of its own
  kFree = 1u << 8,           // moves no bytes: tuple, get-tuple-element, bitcast, parameter …
  kNeedsShape = 1u << 9,     // the text must give the result shape
  kNoAsyncSugar = 1u << 10,  // `<op>-start` is not sugar for async-start
  kCopyStart = 1u << 11,     // the async copy pair (DMA between memory spaces)
  kHostTransfer = 1u << 12,  // infeed, outfeed, send, recv
  kExactTypes = 1u << 13,    // declared element types are the inferred ones: XLA lets every other
                             // opcode round its result to another float type
  kDerivedShape = 1u << 14,  // where the declared shape is another, the inferred one is meant
};

class EvaluateContext;  // evaluate/evaluate.h: making what runs an instruction
class Invocation;       // evaluate/evaluate.h: running it once
class CollectiveCall;   // evaluate/devices/joint.h: running it once on several devices that meet there
class OpContext;
struct ElementKernel;  // cpu_kernels/element.h
struct StridedView;    // layout/strided_view.h
struct Work;           // ops/work.h: what the units of a device have to do
struct XlaCost;        // ops/xla_cost.h: XLA's HloCostAnalysis counters
class XlaCostContext;

struct OpDef {
  std::string_view name;
  Arity arity;
  uint32_t traits = 0;
  std::span<const AttrSpec> attrs = {};
  /// Rules that the text itself must obey, checked while reading (--parse-only included).
  void (*check_syntax)(OpContext&) = nullptr;
  /// Result shape from operands and attributes, layouts ignored; reports what forbids it and
  /// returns null. Where the text alone decides (parameter, constant, …) the declared shape.
  ShapeRef (*infer_shape)(OpContext&) = nullptr;
  /// Constraints besides the shape.
  void (*check)(OpContext&) = nullptr;
  /// XLA-compatible counters; null: the default rule (0 flops, operand and result bytes).
  void (*xla_cost)(const OpContext&, const XlaCostContext&, XlaCost&) = nullptr;
  /// Device-free work; null: nothing but reading the operands and writing the result.
  void (*work)(const OpContext&, Work&) = nullptr;

  /// How the value of the result comes about: one of these four, tried in this order. Parameters, constants
  /// and calls need none; another opcode with none has no meaning on a device by itself.
  ///
  /// For opcodes that only hand values on: for each leaf of the result the leaf of the operands that it is,
  /// counted through all operands; ops/leaf_forwarding.h has what else a leaf may be.
  void (*forward)(const OpContext&, std::vector<int64_t>& leaves) = nullptr;
  /// For elementwise opcodes: the arithmetic on their elements. Nullopt where the attributes name none.
  std::optional<ElementOp> (*element)(const OpContext&) = nullptr;
  /// For opcodes whose result is operand 0's elements at other indices: the result, seen in the memory in
  /// which `operand` is seen. False where strides can't say it; then `evaluation` has to.
  bool (*view)(const OpContext&, const StridedView& operand, StridedView& result) = nullptr;
  /// What runs the instruction.
  OpColumn<EvaluationKind> evaluation;

  /// What it is to the other parts of the program.
  OpRules rules;

  bool has(uint32_t trait) const { return (traits & trait) != 0; }
};

/// One OpDef per opcode.
class OpTable {
 public:
  std::array<const OpDef*, kOpcodeCount> rows{};
  const OpDef& operator[](Opcode opcode) const { return *rows[static_cast<size_t>(opcode)]; }
};

/// An instruction in its module, as the functions of an OpDef see it, and where they report.
class OpContext {
 public:
  OpContext(Module& module, const Instruction& instruction, const OpTable& table, DiagnosticList* sink)
      : OpContext(module, module.shapes(), instruction, table, sink) {}
  /// For modules that only are looked at. `shapes`: the module's own or a copy of them, for what the
  /// functions of the OpDef make; it outlives what they return.
  OpContext(const Module& module, ShapePool& shapes, const Instruction& instruction, const OpTable& table,
            DiagnosticList* sink)
      : module_(module), shapes_(shapes), instruction_(instruction), table_(table), sink_(sink) {}
  /// The same for another instruction; reports nothing.
  OpContext of(const Instruction& other) const { return {module_, shapes_, other, table_, nullptr}; }

  const Module& module() const { return module_; }
  const Instruction& instruction() const { return instruction_; }
  const OpTable& table() const { return table_; }
  const OpDef& def() const { return table_[instruction_.opcode]; }
  ShapePool& shapes() const { return shapes_; }

  ShapeRef shape() const { return instruction_.shape; }
  int64_t operand_count() const { return static_cast<int64_t>(instruction_.operands.size()); }
  const Instruction& operand(int64_t i) const {
    return module_.instructions[instruction_.operands[static_cast<size_t>(i)]];
  }
  ShapeRef operand_shape(int64_t i) const { return operand(i).shape; }

  const Attr* find(AttrKey key) const { return instruction_.find(key); }
  bool has(AttrKey key) const { return find(key) != nullptr; }
  bool flag(AttrKey key, bool otherwise = false) const {
    const Attr* attr = find(key);
    return attr ? attr->flag() : otherwise;
  }
  int64_t integer(AttrKey key, int64_t otherwise = 0) const {
    const Attr* attr = find(key);
    return attr ? attr->integer() : otherwise;
  }
  /// Empty when absent.
  std::span<const int64_t> ints(AttrKey key) const {
    const Attr* attr = find(key);
    return attr ? attr->ints() : std::span<const int64_t>();
  }
  std::span<const std::span<const int64_t>> int_lists(AttrKey key) const {
    const Attr* attr = find(key);
    return attr ? attr->int_lists() : std::span<const std::span<const int64_t>>();
  }
  /// Words and kept text; empty when absent.
  std::string_view text(AttrKey key) const {
    const Attr* attr = find(key);
    return attr ? attr->text() : std::string_view();
  }
  /// The window, rank 0 when absent.
  std::span<const WindowDimension> window() const {
    const Attr* attr = find(AttrKey::kWindow);
    return attr ? attr->window().dimensions : std::span<const WindowDimension>();
  }
  /// Requires: the attribute is there.
  ComputationId called(AttrKey key = AttrKey::kToApply) const { return find(key)->computations()[0]; }
  const Computation& computation(ComputationId id) const { return module_[id]; }

  /// Reports `<opcode>[ C<constraint>]: message` at the instruction and returns null, so that
  /// shape functions can `return op.error(...)`. Constraint 0 prints no number.
  template <class... Args>
  std::nullptr_t error(int constraint, fmt::format_string<Args...> format, Args&&... args) {
    report(Severity::kError, constraint, fmt::format(format, std::forward<Args>(args)...));
    return nullptr;
  }
  bool failed() const { return failed_; }

 private:
  void report(Severity severity, int constraint, std::string message);
  const Module& module_;
  ShapePool& shapes_;
  const Instruction& instruction_;
  const OpTable& table_;
  DiagnosticList* sink_;
  bool failed_ = false;
};

}  // namespace hlosim
