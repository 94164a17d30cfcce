// The profiles that the hosts of one run wrote, as one.
//
//   Profile all = read_profile("run/host0.xplane.pb").value();
//   add_host(all, read_profile("run/host1.xplane.pb").value());
//   all.devices                                    // of both
#pragma once

#include "profile/profile.h"

namespace hlosim {

/// Adds what another host saw of the same run. Programs are the same by their number, those without one by
/// their name; operations by name. Notes that both have are there once.
void add_host(Profile& all, Profile more);

}  // namespace hlosim
