#include "profile/profile_builder.h"

#include <algorithm>

#include "base/saturating.h"

namespace hlosim {
namespace {

void add(Picoseconds& sum, Picoseconds more) { sum = Picoseconds(saturating_add(sum.count(), more.count())); }

void fill(std::string& known, const std::string& more) {
  if (known.empty()) known = more;
}

template <class T>
void fill(std::optional<T>& known, const std::optional<T>& more) {
  if (!known) known = more;
}

}  // namespace

ProfileBuilder::ProfileBuilder(std::string file, std::string_view form) {
  profile_.file = std::move(file);
  profile_.form = form;
}

uint32_t ProfileBuilder::program(const ProgramName& name) {
  const auto next = static_cast<uint32_t>(profile_.programs.size());
  const uint32_t at = name.id ? by_id_.try_emplace(*name.id, next).first->second
                              : by_name_.try_emplace(name.name, next).first->second;
  if (at == next) {
    profile_.programs.emplace_back();
    profile_.programs.back().id = name.id;
  }
  fill(profile_.programs[at].name, name.name);
  return at;
}

uint32_t ProfileBuilder::lone_program() {
  std::optional<uint32_t> lone;
  int64_t ran = 0;
  for (size_t i = 0; i < profile_.programs.size(); ++i)
    if (profile_.programs[i].runs > 0) ++ran, lone = static_cast<uint32_t>(i);
  return ran == 1 ? *lone : program({});
}

void ProfileBuilder::add_run(uint32_t program, Picoseconds time) {
  ProfiledProgram& one = profile_.programs[program];
  one.shortest = one.runs == 0 ? time : std::min(one.shortest, time);
  one.longest = std::max(one.longest, time);
  ++one.runs;
  add(one.time, time);
}

size_t ProfileBuilder::operation(uint32_t program, const ProfiledOperation& sample) {
  std::vector<ProfiledOperation>& all = profile_.programs[program].operations;
  const auto [at, is_new] =
      operations_.try_emplace({program, sample.name, sample.beside, sample.core}, all.size());
  if (is_new) {
    all.push_back(sample);
    return at->second;
  }
  ProfiledOperation& known = all[at->second];
  fill(known.text, sample.text);
  fill(known.category, sample.category);
  fill(known.op_name, sample.op_name);
  fill(known.source, sample.source);
  fill(known.bound_by, sample.bound_by);
  fill(known.flops, sample.flops);
  fill(known.model_flops, sample.model_flops);
  fill(known.bytes, sample.bytes);
  return at->second;
}

void ProfileBuilder::add_time(ProfiledOperation& operation, Picoseconds start, Picoseconds time,
                              Picoseconds self_time, int64_t occurrences) {
  if (start.count() >= 0 && (operation.first.count() < 0 || start < operation.first)) operation.first = start;
  operation.occurrences = saturating_add(operation.occurrences, occurrences);
  add(operation.time, time);
  add(operation.self_time, self_time);
  if (occurrences == 1) operation.longest = std::max(operation.longest, self_time);
}

void ProfileBuilder::add_step(const std::string& name, Picoseconds time) {
  const auto [at, is_new] = steps_.try_emplace(name, profile_.steps.size());
  if (is_new) profile_.steps.push_back({name, 0, {}});
  ProfiledStep& step = profile_.steps[at->second];
  ++step.occurrences;
  add(step.time, time);
}

void ProfileBuilder::note(std::string text) {
  if (std::find(profile_.notes.begin(), profile_.notes.end(), text) == profile_.notes.end())
    profile_.notes.push_back(std::move(text));
}

Profile ProfileBuilder::take() {
  std::erase_if(profile_.programs, [](const ProfiledProgram& one) {
    return one.name.empty() && one.operations.empty() && one.hlo.empty();
  });
  return std::move(profile_);
}

}  // namespace hlosim
