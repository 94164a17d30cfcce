// What it takes to move data that doesn't lie in one piece: windows that cut through tiles in HBM, and tiles
// that change places in VMEM.
//
//   const ShortRuns row = short_runs(update, array, core);   // one row of f32[16,512,7168] in T(8,128)
//   row.runs                                                 // 28,672 of 512 bytes
//   core.short_runs_time(row.runs, row.rows)                 // however many bytes that are
#pragma once

#include <array>

#include "base/units.h"
#include "layout/shape.h"
#include "model/unit.h"

namespace hlosim {

class Core;
class MemorySystem;
struct ComputeSummary;
struct Traffic;

/// Contiguous pieces in HBM that are shorter than a register, and how many groups of pieces at one distance
/// they form.
struct ShortRuns {
  double runs = 0, rows = 0;
  ShortRuns& operator+=(const ShortRuns& other) {
    runs += other.runs, rows += other.rows;
    return *this;
  }
  bool operator==(const ShortRuns&) const = default;
};

/// Of a window with the dimensions of `part` in `whole`; none where `part` is no window of it.
ShortRuns short_runs(ShapeRef part, ShapeRef whole, const Core& core);

/// Makes the busy times of HBM and VMEM at least as long as the windows and moves of `compute` take. `hbm`:
/// what the instruction moves to and from HBM; without any, whole tiles change places one by one as well.
void add_moves(std::array<Picoseconds, kUnitCount>& busy, const ComputeSummary& compute, const Traffic& hbm,
               const MemorySystem& memory, const Core& core);

}  // namespace hlosim
