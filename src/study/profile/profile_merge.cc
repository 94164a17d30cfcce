#include "profile/profile_merge.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/saturating.h"

namespace hlosim {
namespace {

void add_time(Picoseconds& sum, Picoseconds more) {
  sum = Picoseconds(saturating_add(sum.count(), more.count()));
}

/// Where the same one is, or a new one.
ProfiledProgram& same_program(Profile& all, const ProfiledProgram& wanted) {
  for (ProfiledProgram& one : all.programs)
    if (wanted.id ? one.id == wanted.id : !one.id && one.name == wanted.name) return one;
  ProfiledProgram& added = all.programs.emplace_back();
  added.id = wanted.id;
  return added;
}

void add_operations(ProfiledProgram& into, std::vector<ProfiledOperation> more) {
  const auto key = [](const ProfiledOperation& one) { return std::tuple(one.name, one.beside, one.core); };
  std::map<std::tuple<std::string, bool, std::string>, size_t> known;
  for (size_t i = 0; i < into.operations.size(); ++i) known.emplace(key(into.operations[i]), i);
  for (ProfiledOperation& one : more) {
    const auto [at, is_new] = known.try_emplace(key(one), into.operations.size());
    if (is_new) {
      into.operations.push_back(std::move(one));
      continue;
    }
    ProfiledOperation& sum = into.operations[at->second];
    sum.occurrences = saturating_add(sum.occurrences, one.occurrences);
    add_time(sum.time, one.time);
    add_time(sum.self_time, one.self_time);
    sum.longest = std::max(sum.longest, one.longest);
  }
}

void add_program(ProfiledProgram& into, ProfiledProgram more) {
  if (into.name.empty()) into.name = more.name;
  if (into.hlo.empty()) into.hlo = std::move(more.hlo);
  if (more.runs > 0) {
    into.shortest = into.runs == 0 ? more.shortest : std::min(into.shortest, more.shortest);
    into.longest = std::max(into.longest, more.longest);
    into.runs = saturating_add(into.runs, more.runs);
    add_time(into.time, more.time);
  }
  add_operations(into, std::move(more.operations));
}

}  // namespace

void add_host(Profile& all, Profile more) {
  if (all.device_type.empty()) all.device_type = more.device_type;
  if (!all.peak_flops) all.peak_flops = more.peak_flops;
  if (!all.peak_bandwidth) all.peak_bandwidth = more.peak_bandwidth;
  all.devices = saturating_add(all.devices, more.devices);
  for (ProfiledProgram& one : more.programs) add_program(same_program(all, one), std::move(one));
  for (const ProfiledStep& step : more.steps) {
    const auto same = std::find_if(all.steps.begin(), all.steps.end(),
                                   [&](const ProfiledStep& one) { return one.name == step.name; });
    if (same == all.steps.end()) {
      all.steps.push_back(step);
      continue;
    }
    same->occurrences = saturating_add(same->occurrences, step.occurrences);
    add_time(same->time, step.time);
  }
  for (std::string& note : more.notes)
    if (std::find(all.notes.begin(), all.notes.end(), note) == all.notes.end())
      all.notes.push_back(std::move(note));
}

}  // namespace hlosim
