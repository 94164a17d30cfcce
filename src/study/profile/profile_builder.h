// Puts a profile together from events as readers meet them.
//
//   ProfileBuilder builder("t.xplane.pb", "XSpace");
//   const uint32_t program = builder.program({"jit_f", 1219});
//   const size_t at = builder.operation(program, sample);   // of sample.name
//   const Profile profile = builder.take();
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "profile/profile.h"

namespace hlosim {

class ProfileBuilder {
 public:
  ProfileBuilder(std::string file, std::string_view form);

  Profile& profile() { return profile_; }
  /// Index of the program; made where it wasn't there. A number tells programs of one name apart.
  uint32_t program(const ProgramName& name);
  /// The only one that ran; made without name and number where there are none or several.
  uint32_t lone_program();
  /// One run of it.
  void add_run(uint32_t program, Picoseconds time);
  /// Index in the program of the operation of this name; `sample` fills in what wasn't known of it.
  size_t operation(uint32_t program, const ProfiledOperation& sample);
  static void add_time(ProfiledOperation& operation, Picoseconds start, Picoseconds time,
                       Picoseconds self_time, int64_t occurrences);
  void add_step(const std::string& name, Picoseconds time);
  /// A note, once however often it is given.
  void note(std::string text);
  /// Programs without name and operations are left out.
  Profile take();

 private:
  Profile profile_;
  std::map<uint64_t, uint32_t> by_id_;
  std::map<std::string, uint32_t> by_name_;  // those without a number
  std::map<std::tuple<uint32_t, std::string, bool, std::string>, size_t> operations_;
  std::map<std::string, size_t> steps_;
};

}  // namespace hlosim
