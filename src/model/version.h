// Which numbers the timing model gives.
#pragma once

namespace hlosim {

/// Rises with every change of the code after which the same module on the same device file, with the same
/// options, may get another time, traffic, occupancy or count than before: equations, scheduling, lowering,
/// live ranges, work of an opcode. Not with device files (they have fingerprints of their own), texts or new
/// opcodes that were errors before. Baselines of `hlosim gate` carry it: numbers of two versions are not
/// compared. The gate over this project's own examples (reports/baselines) fails when numbers change and this
/// doesn't.
inline constexpr int kModelVersion = 23;

}  // namespace hlosim
