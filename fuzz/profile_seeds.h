// Profiles to begin with: traces and tables as XProf writes them, and predicted runs as XSpace.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "hlo/module.h"
#include "model/device.h"

namespace hlosim::fuzz {

struct ProfileSeed {
  std::string_view name, text;
};

/// A trace, hlo_stats as JSON and CSV, an op_profile.
std::span<const ProfileSeed> profile_texts();

/// An XSpace of the module's predicted run; empty: it has none.
std::string profile_bytes(const Module& module, const Device& device);

}  // namespace hlosim::fuzz
