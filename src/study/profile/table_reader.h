// XProf's tables: hlo_stats, framework_op_stats and roofline_model as JSON or CSV, op_profile as JSON.
//
//   if (looks_like_table(source->text())) profile = read_table(source);
#pragma once

#include <string_view>

#include "base/source.h"
#include "profile/profile.h"

namespace hlosim {

/// Does the text begin as one of these tables does?
bool looks_like_table(std::string_view text);

/// One operation per row, its times those of all occurrences. Columns go by their ids ("hlo_op_name") or
/// their titles ("HLO op name"); hlo_op_name or hlo_op_expression and a time have to be there. Errors have
/// their place.
Result<Profile> read_table(const SourcePtr& source);

}  // namespace hlosim
