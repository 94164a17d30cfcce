// What a Pallas kernel costs whose blocks are known. Its grid is a sequence of steps; in each the blocks of
// operands that changed come from HBM into one half of a double buffer while the units work on the other.
//
//   const Result<KernelCost> cost = attention_cost(device.config, AttentionPass::kForward, problem, blocks);
//   to_text(cost->kernel)                          // "2.657 ms"
//
// docs/kernels.md has the equations, where each number is from, and how far they are from measured kernels.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/source.h"
#include "base/units.h"
#include "model/core.h"
#include "model/device.h"
#include "model/instruction_cost.h"
#include "model/kernel_time.h"

namespace hlosim {

/// Bytes of one element; parts of one for packed types.
inline double element_bytes(ElementType type) { return static_cast<double>(bit_width(type)) / 8; }

/// What the compiler does before or after a kernel: arrays in other layouts, sums of parts.
struct KernelPass {
  std::string name;
  Bytes read{}, written{};
  Picoseconds time{};
};

struct KernelCost {
  TimedKernel planned;     // all steps of the grid are one class
  Picoseconds time{};      // the kernel and what is done around it
  Picoseconds kernel{};    // together + apart + step_overhead + waits
  Picoseconds together{};  // units that work side by side
  Picoseconds apart{};     // whole blocks that are begun, added or finished: no product runs beside that
  Picoseconds step_overhead{};
  Picoseconds waits{};  // transfers that nothing hides
  Picoseconds around{};
  std::vector<KernelPass> passes;  // that take `around`
  UnitTimes busy{};                // of the kernel: MXU, VPU, EUP, XLU, HBM
  IssueSlots slots;                // of all cores
  double mxu_cycles = 0;           // of all cores, each with its own arrays

  std::vector<int64_t> grid;
  std::vector<std::pair<std::string, int64_t>> blocks;  // sizes, by the kernel's names for them
  int64_t cores = 1;                                    // that share the grid
  int64_t steps = 0;                                    // of all cores
  int64_t computed = 0, masked = 0, skipped = 0;        // blocks; `masked` is part of `computed`

  Bytes vmem{}, vmem_limit{};  // that a core needs, and may use
  Flops flops{};               // of products, in blocks that are computed
  int64_t vector_operations = 0;
  int64_t transcendentals = 0;
  Bytes read{}, written{};  // HBM, of the kernel

  bool fits() const { return vmem <= vmem_limit; }
};

/// Rate of the products of `kernel`, as errors name it. Errors: the device multiplies no such types.
Result<MatmulRate> kernel_rate(const DeviceConfig& device, std::string_view kernel, ElementType lhs,
                               ElementType rhs, MatmulPrecision precision = MatmulPrecision{});

/// Errors: one of the sizes, by their names, is not 1 to `most`.
Result<void> check_kernel_sizes(std::string_view kernel,
                                std::initializer_list<std::pair<std::string_view, int64_t>> sizes,
                                int64_t most);

/// Of the candidates that fit the one with which the kernel takes least time. `cost`: Result<KernelCost> of
/// one of them.
template <class Blocks, class Cost>
std::optional<Blocks> best_blocks(const DeviceConfig& device, const std::vector<Blocks>& candidates,
                                  Cost&& cost) {
  const Core core(device);
  KernelSearch search(core);
  std::optional<Blocks> best;
  for (const Blocks& blocks : candidates) {
    const Result<KernelCost> made = cost(blocks);
    if (made && made->fits() && search.takes(made->planned)) best = blocks;
  }
  return best;
}

/// What a core does in all steps of a kernel, beside what its Kernel says.
struct KernelAmounts {
  double mxu = 0;  // cycles
  IssueSlots slots;
  double multiply_adds = 0;
  double exponentials = 0;
  double read = 0, written = 0;  // bytes
};

/// The cost of a kernel with any classes of steps. Post: everything but passes, grid, blocks and their
/// counts.
KernelCost kernel_cost_of(const Core& core, Kernel kernel, const KernelAmounts& amounts);

/// Adds up steps of several classes to a Kernel: kernels whose blocks have different lengths, or move at
/// different steps. Amounts are those of one core.
class KernelSteps {
 public:
  /// One step of a class.
  struct Step {
    double mxu = 0;                // cycles
    IssueSlots slots;              // beside products
    IssueSlots slots_apart;        // with no product beside
    double apart = 0;              // cycles of registers stored
    double latency = 0;            // cycles until the results of products that the step waits for are there
    double copies = 0;             // picoseconds of transfers to and from other devices
    double loops = 1;              // steps of the grid, or rounds of a loop that is written like one
    double read = 0, written = 0;  // bytes
    double multiply_adds = 0;
    double exponentials = 0;
  };

  KernelSteps(const DeviceConfig& device, int64_t cores);

  const Core& core() const { return core_; }
  /// How units and transfers overlap, when transfers are asked for, scratch and first and last blocks.
  Kernel& kernel() { return kernel_; }
  void add(double count, const Step& step);
  /// Post: as kernel_cost_of().
  KernelCost finish() &&;

 private:
  const DeviceConfig& device_;
  Core core_;
  Kernel kernel_;
  KernelAmounts amounts_;
};

/// Adds up what one core does in all steps of a grid, in cycles and bytes, to a Kernel.
class KernelTally {
 public:
  /// `cores`: that share the work.
  KernelTally(const DeviceConfig& device, int64_t cores) : core_(device), cores_(cores) {}

  double mxu = 0;                // cycles
  IssueSlots slots;              // beside products
  IssueSlots slots_apart;        // with no product beside
  double apart = 0;              // cycles of registers stored
  double steps = 0;              // grid steps
  double step_latency = 0;       // cycles that each step waits for its first product
  double read = 0, written = 0;  // bytes
  double exposed = 0;            // picoseconds of transfers that a step waits for
  double multiply_adds = 0;
  double scores = 0;  // exponentials

  double vmem = 0;  // bytes that a core needs

  /// Post: everything but passes, grid, blocks and their counts.
  KernelCost finish() const;

 private:
  Kernel to_kernel() const;

  Core core_;
  int64_t cores_;
};

/// A pass over HBM.
KernelPass kernel_pass(const DeviceConfig& device, std::string_view name, double read, double written);
/// Post: `around` and `time` contain the passes.
void add_passes(KernelCost& cost, std::vector<KernelPass> passes);

}  // namespace hlosim
