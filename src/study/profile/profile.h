// What a profiler saw run: programs, their operations and how long each took, whatever file it comes from.
//
//   const Result<Profile> profile = read_profile("logdir", {});                  // read_profile.h
//   for (const ProfiledOperation& operation : profile->programs[0].operations)
//     std::cout << operation.name << ": " << to_text(operation.mean());          // "fusion.3: 12.34 us"
//
// Times of an operation are those of all its occurrences on all devices; FLOPs and bytes are those of one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace hlosim {

struct ProfiledOperation {
  std::string name;         // of the instruction: "fusion.3"
  std::string text;         // of the instruction as the profiler wrote it; may be empty
  std::string category;     // XLA's word for what it is, "loop fusion"; may be empty
  std::string op_name;      // in the program; may be empty
  std::string source;       // "file.py:12"; may be empty
  std::string bound_by;     // as the profiler's table says; empty: it doesn't
  bool beside = false;      // what a start began, from the start to the end of its done
  std::string core;         // that it ran on beside the TensorCore, as the profiler has it; empty: on it
  int64_t occurrences = 0;  // on all devices
  Picoseconds time{};       // of all of them
  Picoseconds self_time{};  // without what ran inside
  Picoseconds longest{};    // of one occurrence; 0: unknown
  Picoseconds first{-1};    // start of the first one; -1: unknown
  std::optional<int64_t> flops{};        // of one occurrence
  std::optional<int64_t> model_flops{};  // those of the model: without what is computed again
  std::optional<int64_t> bytes{};        // read and written

  /// Time of one occurrence without what ran inside; 0 of none.
  Picoseconds mean() const { return occurrences > 0 ? self_time / occurrences : Picoseconds(0); }
};

struct ProfiledProgram {
  std::string name;                           // of the module: "jit_step"; may be empty
  std::optional<uint64_t> id{};               // the profiler's number for it
  int64_t runs = 0;                           // on all devices; 0: the file doesn't tell
  Picoseconds time{};                         // of all runs
  Picoseconds shortest{}, longest{};          // of one run
  std::vector<ProfiledOperation> operations;  // in the order in which they were met
  std::string hlo;                            // bytes of its HloProto; empty: none
};

/// What the profiler, or who wrote the program, called a step.
struct ProfiledStep {
  std::string name;
  int64_t occurrences = 0;  // on all devices
  Picoseconds time{};       // of all of them
};

struct Profile {
  std::string file;                        // that it was read from
  std::string_view form;                   // "XSpace", "trace", "hlo_stats", "op_profile", …
  std::string host;                        // that wrote it; may be empty
  std::string device_type;                 // "TPU v6 Lite"; may be empty
  int64_t devices = 0;                     // of which there is something; 0: the file doesn't tell
  std::optional<double> peak_flops{};      // FLOP/s, as the profiler knows the device
  std::optional<double> peak_bandwidth{};  // of HBM, bytes/s
  std::vector<ProfiledProgram> programs;
  std::vector<ProfiledStep> steps;
  std::vector<std::string> notes;  // what was left out, what the profiler complained of

  /// The program of this number, or null.
  const ProfiledProgram* program(uint64_t id) const;
};

/// What a profile calls a module, "jit_f(1219)": its name and number.
struct ProgramName {
  std::string name;
  std::optional<uint64_t> id;
};
ProgramName parse_program_name(std::string_view text);

/// "fusion.3" of "%fusion.3 = f32[8]{0} fusion(…)", or of "%fusion.3"; empty where the text is neither.
std::string instruction_name(std::string_view text);

}  // namespace hlosim
