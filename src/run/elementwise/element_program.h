// Arithmetic on elements as a list of kernel calls.
//
// A chain of elementwise operations is run on blocks of elements that stay in the L1 cache: one kernel per
// operation and block, registers of one block each. Sums, differences, products and quotients of f32 that are
// used once go through one loop together (cpu_kernels/chain.h). With blocks of one element the same list runs
// the scalar computations of reduce, sort, map, scatter and while.
//
//   ElementProgramBuilder builder;
//   const auto x = builder.input(ElementType::kF32), y = builder.input(ElementType::kF32);
//   const ElementProgramBuilder::Value operands[] = {x, y};
//   builder.output(builder.apply(kernel, operands, ElementType::kF32));
//   const auto program = builder.finish();         // out = kernel(x, y), block by block
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cpu_kernels/chain.h"
#include "cpu_kernels/element.h"
#include "hlo/op_def.h"
#include "layout/element_type.h"

namespace hlosim {

class ElementProgram {
 public:
  /// Links of a chain, at most.
  static constexpr size_t kMostLinks = 16;
  /// Elements of a block: 1 KiB of f32.
  static constexpr int64_t kBlock = 256;

  std::span<const ElementType> inputs() const { return inputs_; }
  std::span<const ElementType> outputs() const { return outputs_; }
  size_t step_count() const { return steps_.size(); }
  /// Blocks that a runner holds for itself, and bytes of an element of each.
  size_t register_count() const { return registers_ - inputs_.size(); }
  int64_t widest() const { return widest_; }

  /// All that is read of blocks of input `i` is their first element, or one for each row of a block.
  bool reads_first_only(size_t i) const { return first_only_[i]; }

  /// The only operation of a program `out = op(in0, in1)` or `op(in1, in0)`, for callers that know a faster
  /// way to fold with it.
  struct Single {
    ElementOp op;
    ElementType type;
    bool swapped;
  };
  const std::optional<Single>& single() const { return single_; }

  /// The program when it is `out = in[value] op in[of_row]` in f32, with one element of input `of_row` for
  /// each row, or the exponential of that.
  struct RowStep {
    size_t value, of_row;
    ChainOp op;
    bool exponential;
  };
  std::optional<RowStep> row_step() const;

 private:
  friend class ElementProgramBuilder;
  friend class ElementRunner;
  struct Step {
    ElementKernel kernel;  // without fn: a chain
    uint32_t result;       // register
    std::array<uint32_t, 3> operands;
    uint32_t links = 0, link_count = 0;  // of the chain that begins with operands[0]
  };
  struct Link {
    uint32_t operand;  // register
    ChainOp op;
    bool is_scalar;
  };
  struct Output {
    uint32_t reg;
    bool copies;  // an input, a constant or a register that another output owns
  };
  // Registers: the inputs, then the constants, then one per value alive at a time.
  std::vector<ElementType> inputs_, outputs_;
  std::vector<std::array<std::byte, 16>> constants_;
  std::vector<ElementType> constant_types_;
  std::vector<Step> steps_;
  std::vector<Link> links_;
  std::vector<bool> first_only_;
  std::vector<Output> output_registers_;
  size_t registers_ = 0;  // without the outputs' own, which come behind
  int64_t widest_ = 1;    // bytes of the widest value
  std::optional<Single> single_;
};

/// Puts a program together. Values are numbered in the order they are made.
class ElementProgramBuilder {
 public:
  using Value = uint32_t;
  Value input(ElementType type);
  /// `bits`: byte_width(type) bytes.
  Value constant(ElementType type, const std::byte* bits);
  Value apply(ElementKernel kernel, std::span<const Value> operands, ElementType result);
  void output(Value value);
  /// All elements of each block, or of each row of a block, that input `i` will be given are the same.
  void set_uniform(size_t i) { uniform_[i] = true; }
  ElementType type(Value value) const { return values_[value].type; }
  void set_single(ElementProgram::Single single) { single_ = single; }
  std::shared_ptr<const ElementProgram> finish();

 private:
  enum class Kind : uint8_t { kInput, kConstant, kStep };
  struct Entry {
    Kind kind;
    ElementType type;
    uint32_t index;  // among its kind
  };
  struct Link {
    Value operand;
    ChainOp op;
    bool is_scalar;
  };
  struct Application {
    ElementKernel kernel;
    std::vector<Value> operands;
    Value result;
    std::vector<Link> links;  // not empty: a chain that begins with operands[0], instead of the kernel
  };
  /// By value.
  struct Lifetimes {
    std::vector<size_t> last_use;  // step after which it isn't needed, unless it is kept
    std::vector<bool> kept;        // an output
    std::vector<uint32_t> direct;  // the output that its step writes itself
  };
  bool is_uniform(Value value) const;
  Lifetimes lifetimes() const;
  std::vector<Value> dying_at(size_t step, const Lifetimes& lives) const;
  std::optional<Link> link_to(const Application& application, size_t operand) const;
  void join_chains();
  void find_first_only(ElementProgram& program) const;
  std::vector<Entry> values_;
  std::vector<ElementType> inputs_;
  std::vector<bool> uniform_;
  std::vector<std::array<std::byte, 16>> constants_;
  std::vector<ElementType> constant_types_;
  std::vector<Application> applications_;
  std::vector<Value> outputs_;
  std::optional<ElementProgram::Single> single_;
};

/// Room for the registers of a program and its constants spread over a block. One per thread; cheap to use
/// again, not free to make.
class ElementRunner {
 public:
  explicit ElementRunner(const ElementProgram& program, int64_t block = ElementProgram::kBlock);

  /// Computes n elements of each output from n of each input, dense, in blocks. An output may lie where an
  /// input of the same width lies, unless an output of the program is an input as it came.
  void run(const void* const* in, void* const* out, int64_t n);
  /// The same for one block (n <= block) of rows of `row` elements, of which the last may be shorter: inputs
  /// of which only the first elements are read have one for each row.
  void run_rows(const void* const* in, void* const* out, int64_t n, int64_t row) {
    run_block(in, out, 0, n, row);
  }

 private:
  void run_block(const void* const* in, void* const* out, int64_t offset, int64_t n, int64_t row);
  void run_chain(const ElementProgram::Step& step, int64_t n, int64_t row);

  const ElementProgram& program_;
  int64_t block_;
  ChainFn chain_;
  std::unique_ptr<std::byte[]> storage_;
  std::vector<const std::byte*> registers_;  // where each register lies; inputs move with the block
};

/// `computation` as a program over its parameters' leaves, if all it does is arithmetic on elements:
/// parameters, constants and results are scalars, every instruction is elementwise or hands values on.
/// Calls and fusions inside are opened. Null otherwise.
std::shared_ptr<const ElementProgram> element_program(const Module& module, const OpTable& table,
                                                      ComputationId computation);

}  // namespace hlosim
