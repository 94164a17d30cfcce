// The one equation of time on a core.
//
//   time = first blocks in + last blocks out + latencies that nothing hides
//        + Σ over the classes of steps: count × overlap(units, transfers)
//   units = overlap(overlap(MXU + exposed, vector), others) + apart + begin + waits
//
// vector is the longest of VPU, EUP and XLU; others of the scalar unit, VMEM's ports and own copies; exposed
// is the vector work around a product that the product's bundles have no slots for (Core::exposed_vector).
// Each overlap is (a^p + b^p)^(1/p), where the kernel says which p (model/core.h, OverlapRule).
// docs/timing_model.md derives the terms.
//
//   const KernelTime time = time_of(kernel, core);
//   KernelTerms terms;  time_of(kernel, core, terms);  terms.steps[0].units      // the same, and why
#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "model/kernel.h"

namespace hlosim {

/// Picoseconds of one core.
struct KernelTime {
  double time = 0;
  double first_in = 0, last_out = 0;
};

/// Picoseconds of the units for one of the steps that `work` is for.
double units_time(const UnitWork& work, OverlapRule overlap, const Core& core);

/// Records nothing: the equation alone.
struct NoTerms {
  void add_step(const StepClass&, double, double, double) {}
};

/// Picoseconds of each class of steps that takes time.
struct KernelTerms {
  struct Step {
    double count = 0;
    double units = 0, transfers = 0, together = 0;  // of one step
  };
  std::vector<Step> steps;
  void add_step(const StepClass& step, double units, double transfers, double together) {
    steps.push_back({step.count, units, transfers, together});
  }
};

/// `terms`: NoTerms or KernelTerms.
template <class Terms>
KernelTime time_of(const Kernel& kernel, const Core& core, Terms& terms);
inline KernelTime time_of(const Kernel& kernel, const Core& core) {
  NoTerms none;
  return time_of(kernel, core, none);
}

struct TimedKernel {
  Kernel kernel;
  KernelTime time{.time = std::numeric_limits<double>::infinity()};
};

/// The fastest of several kernels for the same work, of those that fit into VMEM.
class KernelSearch {
 public:
  /// The core outlives the search.
  explicit KernelSearch(const Core& core) : core_(core) {}

  bool fits(const Kernel& kernel) const;
  /// Takes `kernel` if it is faster than all before it by more than rounding. Requires: it fits, or nothing
  /// does. Returns its time.
  KernelTime consider(const Kernel& kernel);
  /// The same for a kernel whose time is known. Returns whether it was taken.
  bool takes(const TimedKernel& kernel);
  /// No kernel of at least `picoseconds` would be taken.
  bool excludes(double picoseconds) const { return picoseconds >= best_.time.time; }
  bool is_empty() const { return best_.time.time == std::numeric_limits<double>::infinity(); }
  const TimedKernel& best() const& { return best_; }
  TimedKernel best() && { return std::move(best_); }

 private:
  const Core& core_;
  TimedKernel best_;
};

}  // namespace hlosim
