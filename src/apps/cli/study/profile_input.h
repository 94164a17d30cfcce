// A profile that a command line names, and what is read for it.
//
//   const Result<Profile> profile = read_profile_input("logdir", streams);
#pragma once

#include <string>

#include "console/streams.h"
#include "profile/profile.h"

namespace hlosim {

/// read_profile(), of files that the command doesn't write.
Result<Profile> read_profile_input(const std::string& path, Streams streams);

}  // namespace hlosim
