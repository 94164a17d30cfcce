// What the body of a TPU kernel does, step by step of its grid, on any device with registers of one shape.
//
//   const Result<mlir::File> body = read_kernel_body(source, backend_config);
//   const Result<KernelBody> kernel = kernel_body(*body, {});
//   kernel->steps, kernel->windows[0].fetches                  // 8, 8: a block moves if its index changes
//   kernel->works[kernel->runs[0].work].products[0].k          // 256
//
// The body is a function of the grid's indices, of blocks of the call's operands and results ("windows") and
// of scratch memory. Steps go through the grid with the last index fastest. Index maps, conditions and trip
// counts are evaluated for every step; what depends on data that isn't known is assumed: conditions are met,
// blocks move, and `assumptions` says so. A result's block is left when it is complete, so that results whose
// index isn't known move as often as their arrays have blocks, and operands that go by the same data with
// them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/source.h"
#include "mlir/ir.h"

namespace hlosim::mosaic {

/// Classes of operations of the vector unit, as devices know their costs.
enum class VectorClass : uint8_t { kSimple, kDivide, kTranscendental, kExpensive, kCrossLane, kCrossSublane };
inline constexpr size_t kVectorClasses = 6;

/// A vector register: `sublanes` x `lanes` elements of 32 bits.
struct RegisterShape {
  double lanes = 128, sublanes = 8;
};

/// Registers that operations of one class go through.
struct VectorAmount {
  double words = 0;   // elements of 32 bits, or whose width only some devices calculate in, taken as such
  double halves = 0;  // elements of 16 bits: half as many where the device calculates in 16 bits
};

struct KernelProduct {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  std::string lhs, rhs;   // element types as MLIR has them
  std::string precision;  // empty, "bf16", "fp32", "bf16x3"
  double times = 0;       // in one step
};

/// What one step does between its blocks' coming and going.
struct StepWork {
  std::vector<KernelProduct> products;
  std::array<VectorAmount, kVectorClasses> vector;
  double loaded = 0, stored = 0;  // bytes between VMEM and registers
  double scalar = 0;              // operations
  double copied = 0;              // bytes that the body itself copies from or to HBM
  double sent = 0;                // bytes to other chips
};

/// `count` steps one after the other that are alike.
struct StepRun {
  uint32_t work = 0;       // of KernelBody::works
  double in = 0, out = 0;  // bytes of the blocks fetched for the step, written back after it
  int64_t count = 0;
};

struct KernelWindow {
  std::vector<int64_t> block;
  std::string element;
  double bytes = 0;     // of a block
  int64_t fetches = 0;  // blocks that come; of a result, that go
  bool is_result = false;
  bool is_moved = true;  // false: all of the array, where it lies
  int64_t buffers = 2;
  bool is_unknown = false;  // its index depends on data that isn't known
};

/// A loop of the body of which one round is taken, as its trip count depends on data that isn't known.
struct KernelLoop {
  std::string place;   // "attention.py:120", or "scf.for 2" of the body
  StepWork iteration;  // of one round
  double entries = 0;  // times that the loop is begun in a step
};

struct KernelBody {
  std::string name;
  std::vector<int64_t> grid;
  std::vector<std::string> semantics;  // of the grid's dimensions
  int64_t steps = 1;
  std::vector<KernelWindow> windows;
  std::vector<StepWork> works;
  std::vector<StepRun> runs;
  bool has_unknown_conditions = false;  // which steps do what depends on data
  double vmem = 0;                      // bytes: windows times their buffers, and scratch
  std::vector<std::string> assumptions;
  std::vector<KernelLoop> unknown_loops;
  std::vector<size_t> missing_operands;  // scalar operands whose values decide something and aren't known
};

struct KernelInputs {
  /// Dimensions of the grid that are operands of the call, in order; -1: not known.
  std::vector<int64_t> dynamic_bounds;
  /// Values of the scalar operands that come before the blocks; empty: not known.
  std::vector<std::vector<int64_t>> prefetched;
  /// In which share of the steps conditions on data that isn't known are met.
  double density = 1;
  RegisterShape registers;
  int64_t results = -1;  // how many of the windows are results; -1: those that the body writes
  /// Bytes of each of them, without padding; empty: not known.
  std::vector<double> result_bytes;
};

/// How many operands of the call come before those that have windows.
struct KernelSignature {
  size_t dynamic_bounds = 0;  // sizes of the grid
  size_t prefetched = 0;      // lists that index maps read
};
KernelSignature kernel_signature(const mlir::File& file);

/// Errors: it has no function that is a kernel, or one whose form isn't known.
Result<KernelBody> kernel_body(const mlir::File& file, const KernelInputs& inputs);

/// The bytes of `custom_call_config.body` in a tpu_custom_call's backend_config (text in JSON or with its
/// quotes escaped). Errors: there is none, or it is no base64.
Result<std::string> kernel_bytes(std::string_view backend_config);

/// The body that kernel_bytes() yields, read: bytecode, or text.
Result<mlir::File> read_kernel_body(const std::string& name, std::string_view backend_config);

}  // namespace hlosim::mosaic
