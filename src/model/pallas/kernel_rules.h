// The numbers that kernels' costs rest on besides the device file. All slots are vector ALU operations per
// register of 8 x 128 32-bit values; docs/kernels.md tells how they were found and how well they hold.
//
//   scores * kScoreSlots                           // what an online softmax does to each score
#pragma once

#include "base/units.h"

namespace hlosim::kernel_rules {

/// published: Pallas TPU documentation, "grid step overhead of about 0.35 us".
inline constexpr Picoseconds kStep{350'000};

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

/// calibrated: cycles per register of an output block that is begun with zeros, scaled, rounded and stored.
inline constexpr double kBlockEndCycles = 3.5;
/// calibrated: reading one value out of each row of 128 takes so much longer than reading the rows.
inline constexpr double kRowPick = 1.5;

// ── loss of a linear layer ──
/// calibrated: one-hot labels, maximum, exponential and sums over finished logits.
inline constexpr double kLossSlots = 16;
/// calibrated: softmax minus labels from finished logits.
inline constexpr double kLossGradientSlots = 9;
/// One store per register: a block of a gradient is added to.
inline constexpr double kTileCycles = 1;
/// calibrated: a block of a gradient is scaled when its sum is complete.
inline constexpr double kTileScaleCycles = 2;

// ── kernels of which only their own estimate is known ──
/// calibrated: median share of the MXU peak of the measured kernels, by the size of the arrays; a head of 128
/// fills half of a 256-wide array.
inline constexpr double kShareOfSmallArrays = 0.70;
inline constexpr double kShareOfLargeArrays = 0.45;
inline constexpr int64_t kLargeArray = 256;

}  // namespace hlosim::kernel_rules
