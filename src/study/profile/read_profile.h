// Profiles from whatever a profiler left behind.
//
//   const Result<Profile> profile = read_profile("logdir");      // logdir/plugins/profile/<run>/*.xplane.pb
#pragma once

#include <string>
#include <vector>

#include "base/source.h"
#include "profile/profile.h"

namespace hlosim {

/// Where the files of one run lie, and the others that were passed over.
struct ProfileRun {
  std::vector<std::string> files;  // by name; of several hosts
  std::string name;                // of the run's folder
  std::vector<std::string> other_runs;
  bool by_host = true;  // every host wrote one of the files; else each of them is about all hosts
};

/// The latest run below a log folder: folders are looked through for *.xplane.pb, else *.trace.json[.gz],
/// else perfetto_trace.json, else tables by their names, also packed. Errors: unreadable, none there.
Result<ProfileRun> find_profile_run(const std::string& folder);

/// A file, or a log folder: its latest run, all hosts together, with a note that says so. Packed files are
/// unpacked; the form is told by the content. Errors: what the readers say, a file in none of the
/// forms.
Result<Profile> read_profile(const std::string& path);

/// The same of bytes at hand.
Result<Profile> read_profile(const SourcePtr& source);

/// Is it one of the forms, packed or not? Errors: packed and damaged.
Result<bool> holds_profile(const SourcePtr& source);

}  // namespace hlosim
