// What the operations of known kernels add up to. All slots are vector ALU operations per register of 8 x 128
// 32-bit values, counted from the kernels' text; what isn't counted but measured is in device files
// (`kernel`, `overhead.grid_step`, `mxu.kernel_share`). docs/kernels.md tells how well they hold.
//
//   scores * kScoreSlots                           // what an online softmax does to each score
#pragma once

namespace hlosim::kernel_rules {

// ── attention, forward: counted from the kernel's operations ──
/// Maximum, subtraction, sum, and one for the exponential (base 2, its factor is part of the queries).
inline constexpr double kScoreSlots = 4;
inline constexpr double kMaximumSlots = 1;  // of kScoreSlots, where a bound on the logits takes its place
inline constexpr double kNaturalExpSlots = 1;
/// The position of a key from the lane's number, its comparison with the query's, the choice.
inline constexpr double kMaskSlots = 4;
inline constexpr double kSegmentSlots = 2;
inline constexpr double kBiasSlots = 1;
/// Two multiplications beside the hyperbolic tangent; and twice that backwards, where its slope is needed.
inline constexpr double kSoftCapSlots = 2;
/// Running maximum and sum of a row, once per block of keys: exponential of the difference, rescaling.
inline constexpr double kRowSlots = 2;
/// The accumulated output, once per block of keys: rescaled and added to.
inline constexpr double kAccumulatorSlots = 2;

// ── attention, backward ──
/// Subtraction, exponential, (dp - di) * p, and two roundings to the products' type.
inline constexpr double kGradientSlots = 6;

// ── loss of a linear layer ──
/// One store per register: a block of a gradient is added to.
inline constexpr double kTileCycles = 1;

}  // namespace hlosim::kernel_rules
