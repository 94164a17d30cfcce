// The folder that --xla_dump_to names: which modules it holds, and which files belong to each.
//
//   module_0001.jit_f.before_optimizations.txt
//   module_0001.jit_f.0002.simplification.after_dce.before_cse.txt
//   module_0001.jit_f.sm_8.0_gpu_after_optimizations.txt
//   module_0001.jit_f.sm_8.0_gpu_after_optimizations-buffer-assignment.txt
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"

namespace hlosim {

enum class DumpStage : uint8_t { kBefore, kPass, kAfter, kBuffers };

/// What the name of one file says.
struct DumpFileName {
  std::string prefix;   // a time stamp, as written; mostly empty
  int64_t number = -1;  // of the module; -1: not a name as XLA gives them
  std::string module;   // may be empty: XLA leaves out names that are too long
  DumpStage stage{};
  int rank = 0;          // among the files of a stage; the highest says most
  std::string platform;  // "cpu", "sm_8.0_gpu"; may be empty
};

/// False for files that hold neither a module nor a buffer assignment, by their name (without folder).
bool parse_dump_file_name(std::string_view file, DumpFileName& name);

struct DumpedModule {
  int64_t number = -1;
  std::string prefix, name, platform;
  std::string before, after, buffers;  // paths; empty: not there
  std::vector<std::string> passes;     // paths, in the order of the passes

  /// What shows best what runs: after optimisation, else after the last pass, else before.
  const std::string& best() const {
    return !after.empty() ? after : !passes.empty() ? passes.back() : before;
  }
  std::string_view best_stage() const {
    return !after.empty() ? "after" : !passes.empty() ? "pass" : "before";
  }
};

/// The modules of a folder (its own files, not those of folders inside it) by time stamp, number and name.
/// Where a file is there in several forms text comes before protos and plain before packed. Files called
/// otherwise count when they end in .hlo, .hlo.txt or .hlo.pb, each as a module of its own. Errors: a folder
/// that can't be read, or that holds no module.
Result<std::vector<DumpedModule>> read_dump_folder(const std::string& path);

bool is_folder(const std::string& path);

}  // namespace hlosim
