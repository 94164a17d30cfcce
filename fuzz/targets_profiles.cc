// Targets that take profiles: what is read is shown, and simulated where a module lies inside.
#include "base/check.h"
#include "estimate/estimate.h"
#include "measured/comparison.h"
#include "measured/comparison_output.h"
#include "measured/program_modules.h"
#include "ops/op_table.h"
#include "profile/read_profile.h"
#include "read_input.h"
#include "targets.h"

namespace hlosim::fuzz {
namespace {

ComparedProgram compared(const ProfiledProgram& program, const Profile& profile, const Device& device) {
  Limits limits;
  const Result<Module> module = ProgramModules(limits).of(program, false);
  if (!module) return measured_program(program, profile, module.error().message);
  const Result<Estimate> estimate = hlosim::estimate(*module, op_table(), device, EstimateOptions{});
  if (!estimate) return measured_program(program, profile, estimate.error().message);
  const Report report = make_report(*module, op_table(), device, *estimate);
  return compare_program(program, profile, *estimate, report, op_table());
}

}  // namespace

bool read_profiles(const Bench& bench, const std::string& input, Random& choice) {
  const Result<Profile> profile = read_profile(source_of(input));
  if (!profile) return told(profile.error()), false;
  ProfileComparison comparison;
  comparison.profile = &*profile;
  const Device& device = bench.device(choice.one_in(2) ? "v5e" : "v6e");
  for (const ProfiledProgram& program : profile->programs)
    comparison.programs.push_back(compared(program, *profile, device));
  HLOSIM_CHECK(!to_text(comparison, {}).empty() && !to_json(comparison, "1").empty() &&
               !to_csv(comparison).empty());
  return true;
}

}  // namespace hlosim::fuzz
