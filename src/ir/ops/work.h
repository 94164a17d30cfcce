// What an instruction asks of a device, without saying how long it takes: matrix products, vector
// operations, which parts of its operands it touches, and what goes over the interconnect. The
// timing model turns this into time on a given device from the physical (padded, tiled) shapes.
//
//   const Work work = work_of(OpContext(module, instruction, table, nullptr));
//   for (const MatmulWork& matmul : work.matmuls)
//     multiply_adds += matmul.batch * matmul.m * matmul.n * matmul.k;
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/op_def.h"

namespace hlosim {

/// How precisely the MXU multiplies f32: one, three or six bf16 passes.
enum class MatmulPrecision : uint8_t { kDefault, kHigh, kHighest };

/// Sizes of the tiles of a ragged product's kernel, as a module's text states them. 0: it states none.
struct RaggedTile {
  int64_t m = 0, k = 0, n = 0;
  bool one_core = false;  // of a device with several executes the kernel; else they share the tiles of n
  bool operator==(const RaggedTile&) const = default;
};

/// `batch` products [m,k]·[k,n] as the MXU sees them, in logical sizes. For convolutions k holds the
/// kernel window and input features, m the batch and output positions, n the output features.
struct MatmulWork {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  ElementType lhs = ElementType::kF32, rhs = ElementType::kF32;
  MatmulPrecision precision = MatmulPrecision::kDefault;
  /// Batches are groups whose sizes are data: where one ends is found out while running.
  bool ragged = false;
  bool ragged_terms = false;  // k is of one group, and each has its own result; else m is
  RaggedTile tile{};
  /// Of a convolution: input features, the part of k that one position of the window has. 0: no convolution.
  int64_t features = 0;
  bool operator==(const MatmulWork&) const = default;
};

/// Classes of vector operations by what they cost per register.
enum class VectorOp : uint8_t {
  kSimple,          // add, multiply, compare, select, convert between 32-bit types, …: one ALU slot
  kDivide,          // float divide, remainder by reciprocal
  kTranscendental,  // exp, log, tanh, rsqrt, …: the transcendental unit plus fix-up
  kExpensive,       // pow, sin/cos, integer divide, erf and other long polynomials
  kCrossLane,       // moves between lanes: lane reductions, lane gathers
  kCrossSublane,    // moves between sublanes
  kTranspose,       // lanes become sublanes: what changes the minor dimension; per 1024 elements of any width
  kLaneStride,      // every second, third, … lane of a register is kept
  kGroupStore,      // results of a ragged product: sums, the mask of the group's rows, read and written again
  kGroupTurn,       // a block of a ragged product's operand is turned round
};
/// Moves only: neither arithmetic of XLA's counting nor a reason to convert to 32 bits.
constexpr bool is_move(VectorOp op) { return op >= VectorOp::kCrossLane; }

/// `per_element` operations of class `op` on every element of `shape` (padded to whole registers).
struct VectorWork {
  VectorOp op = VectorOp::kSimple;
  ShapeRef shape = nullptr;
  double per_element = 1;
};

enum class CollectiveKind : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kRaggedAllToAll,
  kPermute,
  kBroadcast,
};

/// The interconnect part. Payload and groups are read from the instruction by the collective model.
struct CollectiveWork {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::vector<ShapeRef> payload;  // what one member contributes, array shapes
};

/// The sizes of a device's vector unit and of its kernels' blocks that an opcode's work depends on.
struct VectorShape {
  int64_t lanes = 128, sublanes = 8;  // of a register, along the fastest dimension and the next
  // Elements along lanes that a reduction takes up at once; columns of a ragged product for which its operand
  // is turned round once. Unless a device is given, all of them.
  int64_t reduction_window = int64_t{1} << 40, turn_columns = int64_t{1} << 40;
  double mask_slots = 0;        // ALU slots per register of a reduction's last window that is masked
  int64_t divisor_repeats = 8;  // of a divisor's values, from which on their reciprocals are made once
};

struct Work {
  VectorShape vector;  // preset
  std::vector<MatmulWork> matmuls;
  std::vector<VectorWork> vectors;
  std::optional<CollectiveWork> collective;
  /// Part of each operand that is read; preset to the whole operands. Null: not read.
  std::vector<ShapeRef> operand_read;
  /// Part of the result that is written; preset to the whole result. Null: nothing is.
  ShapeRef result_written = nullptr;
  /// Rows, slices or windows fetched by separate DMAs (gather, scatter, dynamic slices); 0: streamed.
  int64_t scattered_accesses = 0;
  /// Tiles, or parts of tiles, that change places. Whole ones can be moved by DMA alone.
  double moved_tiles = 0;
  /// They don't stay whole: each goes through registers.
  bool regroups = false;
  /// Not modelled: bytes only, and the report says so under this name.
  std::string_view unmodelled;
};

/// Work of one instruction on a device, by its opcode's rule. Fusions are the business of the caller, which
/// walks their bodies.
Work work_of(const OpContext& op, const VectorShape& vector = {});

}  // namespace hlosim
