// What a user knows of custom calls, from a YAML file: the time of one call, or what it computes and moves;
// what it does to data where a module is run. An entry is for the calls of the target that it is called by,
// or for those that its `name`, `kernel`, `target` (regular expressions for the whole) and `op_name` (one
// that is found inside) fit.
//
//   my_kernel:       {time: 12.5 us}
//   "__flash$attn":  {flops: 4.2e9, transcendentals: 1000000, read: 3 MiB, written: 1 MiB}
//   attention:       {kernel: splash_mha_fwd.*, time: 3.1 ms}
//   backward:        {target: tpu_custom_call, op_name: transpose\(jvp, time: 4 ms}
//   barrier:         {target: my_barrier, time: 1 us, run: ignore}
//
// The first entry that fits a call is its. Bytes that are not given are those of the call's operands and
// results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/pattern.h"
#include "base/source.h"
#include "base/units.h"
#include "hlo/module.h"

namespace hlosim {

/// What a call does to data.
enum class CustomCallRun : uint8_t {
  kIdentity,  // the result is the first of its operands
  kZeros,     // the result is zeros
  kIgnore,    // nothing: the result is what shares an operand's memory, or a token
};

struct CustomCallCost {
  std::string key;                                       // of the entry
  bool by_key = true;                                    // for the target of that name
  std::optional<Pattern> name, kernel, target, op_name;  // all that are there have to fit
  SourcePtr source;                                      // of the entry
  uint32_t offset = 0;
  std::optional<Picoseconds> time;
  Flops flops{};  // on the MXU at its peak rate for bf16
  int64_t vector_operations = 0;
  int64_t transcendentals = 0;
  std::optional<Bytes> read, written;  // HBM
  bool has_cost = false;               // it says more than what a call does to data
  std::optional<CustomCallRun> run;

  bool fits(const Instruction& custom_call) const;
  /// "costs.yaml:3"
  std::string place() const;
};

/// In which share of its steps a kernel does what depends on data that isn't known: `--kernel-density`.
struct KernelDensity {
  std::string text;  // "splash_mha.*=0.5"
  Pattern kernel;    // of the whole of kernel_name()
  double share = 1;
};
Result<KernelDensity> parse_kernel_density(const std::string& text);  // KERNEL=SHARE

/// Values of a scalar operand of a kernel, which decide trip counts in its body: `--kernel-values`.
struct KernelValues {
  std::string text;     // "RPA.*:0=64x1500"
  Pattern kernel;       // of the whole of kernel_name()
  std::string operand;  // its number among the call's operands, or its name
  std::vector<int64_t> values;
  /// Is it for operand number `index`, which is called `name`?
  bool names(size_t index, std::string_view name) const;
};
Result<KernelValues> parse_kernel_values(const std::string& text);  // KERNEL:OPERAND=VALUES

class CustomCallCosts {
 public:
  /// The entry with the call's cost. Null: none fits, or it is no custom call.
  const CustomCallCost* find(const Instruction& instruction) const;
  /// The entry that says what the call does to data, or null.
  const CustomCallCost* find_run(const Instruction& instruction) const;
  /// The first density that is for the call, or null.
  const KernelDensity* find_density(const Instruction& custom_call) const;
  /// Those that are for operand number `index` of the call, which is called `name`; null: none.
  const KernelValues* find_values(const Instruction& custom_call, size_t index, std::string_view name) const;
  std::vector<CustomCallCost> costs;
  std::vector<KernelDensity> densities;
  std::vector<KernelValues> values;
};

/// Errors in `problems`, with positions: no mapping, unknown keys, values that don't read, keys twice,
/// an entry with both time and work or with nothing.
CustomCallCosts read_custom_call_costs(const SourcePtr& source, DiagnosticList& problems);

/// The name that its attributes give the kernel (`kernel_name`, or `name` of a Triton call), else the
/// instruction's without the numbers that compilers put behind it.
std::string_view kernel_name(const Instruction& custom_call);

/// Entries with costs, densities and values of operands, that no call of the modules asked for, with the
/// names that there are.
class UnusedCustomCallCosts {
 public:
  explicit UnusedCustomCallCosts(const CustomCallCosts& costs)
      : costs_(costs),
        used_(costs.costs.size()),
        used_densities_(costs.densities.size()),
        used_values_(costs.values.size()) {}
  void add(const Module& module);
  /// A warning for each.
  std::vector<Diagnostic> warnings() const;

 private:
  const CustomCallCosts& costs_;
  std::vector<bool> used_, used_densities_, used_values_;
  std::vector<std::string> names_;  // targets, kernels
};

}  // namespace hlosim
