// Notes of hlosim's own in a module's header, among its frontend attributes.
//
//   add_header_note(module, "hlosim.partitioned", "true");
//   frontend_attribute(module, "hlosim.partitioned")  // "true" (hlo/frontend.h): also after a round trip
#pragma once

#include <string_view>

#include "hlo/module.h"

namespace hlosim {

/// Requires: the header has no frontend attribute `key` yet; a value that can stand between quotes.
void add_header_note(Module& module, std::string_view key, std::string_view value);

}  // namespace hlosim
