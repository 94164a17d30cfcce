// What a profiler saw run beside what is simulated of the same module, operation by operation.
//
//   const ComparedProgram one = compare_program(profile->programs[0], *estimate, report, op_table());
//   for (const ComparedOperation& row : one.operations)                         // the farthest off first
//     if (const auto ratio = row.ratio()) std::cout << row.name() << ": " << *ratio << '\n';
//
// Operations are matched by name, then as `hlosim diff` matches renamed ones. Compared is the time of one
// occurrence without what runs inside; of a transfer beside the TensorCore its time from the start to the end
// of its done.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "estimate/estimate.h"
#include "hlo/op_def.h"
#include "profile/profile.h"
#include "report/report.h"

namespace hlosim {

struct SimulatedOperation {
  std::string name, opcode, shape, op_name, category, bound_by;
  bool beside = false;
  std::string text{};              // as a profiler writes it
  int64_t executions = 0;          // in one run of the module
  Picoseconds self_time{};         // of all of them
  std::optional<int64_t> flops{};  // of one, as XLA counts them; absent: not counted
  std::optional<int64_t> bytes{};  // of one: read and written in all memories
  Picoseconds mean() const { return executions > 0 ? self_time / executions : Picoseconds(0); }
};

struct ComparedOperation {
  const ProfiledOperation* measured = nullptr;    // null: only simulated
  const SimulatedOperation* simulated = nullptr;  // null: only measured
  bool renamed = false;
  std::string bound_by;  // as measured: of the profiler, or what its FLOPs and bytes come nearer to

  const std::string& name() const { return measured ? measured->name : simulated->name; }
  /// Measured over simulated time of one occurrence; nothing where there is only one, or no time.
  std::optional<double> ratio() const;
  /// By how much all measured occurrences together are off: signed, measured less simulated.
  Picoseconds off() const;
};

/// Sums over the matched operations on the TensorCore of one category.
struct ComparedCategory {
  std::string name;
  int64_t operations = 0;
  Picoseconds measured{}, simulated{};  // of all occurrences in the profile
};

struct ComparedProgram {
  const ProfiledProgram* program = nullptr;
  std::string not_simulated;  // why; empty: it is
  std::string device;         // on which
  std::string module_file;    // of the module that was given; empty: it is the profile's own
  Picoseconds simulated{};    // one run
  std::vector<SimulatedOperation> simulations;
  std::vector<ComparedOperation>
      operations;  // matched by |off()|, the largest first; then only measured by time
  std::vector<ComparedCategory> categories;  // by measured time
  std::vector<std::string> assumptions;      // of the simulation

  /// Measured time of operations on the TensorCore, and of those that are matched.
  Picoseconds measured_operations() const;
  Picoseconds matched_operations() const;
  /// What those that are matched would take as simulated.
  Picoseconds matched_simulated() const;
};

struct ProfileComparison {
  const Profile* profile = nullptr;
  std::vector<ComparedProgram> programs;  // by measured time, the longest first
};

/// Both have to outlive the result. `profile`: for its device's peaks.
ComparedProgram compare_program(const ProfiledProgram& program, const Profile& profile,
                                const Estimate& estimate, const Report& report, const OpTable& table);

/// What a program is without a simulation.
ComparedProgram measured_program(const ProfiledProgram& program, const Profile& profile, std::string why);

/// The opcode and the shape in "%a = f32[8]{0} add(f32[8]{0} %b, …)"; empty where the text is no such.
struct OperationText {
  std::string_view opcode, shape;
};
OperationText parse_operation(std::string_view text);

/// For each operation of the program its index in `simulated`, or -1.
std::vector<int> match_operations(const ProfiledProgram& program,
                                  const std::vector<SimulatedOperation>& simulated);

}  // namespace hlosim
