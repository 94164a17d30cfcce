// Text of modules that hlosim itself has made: it is read once more before anybody gets it.
//
//   if (auto wrong = verify_emitted_text(text, "lower", module.name); !wrong) return fail(wrong.error());
#pragma once

#include <string>
#include <string_view>

#include "base/source.h"

namespace hlosim {

/// Error, an internal one: the text is no right module. Whatever is wrong, the user's text isn't.
Result<void> verify_emitted_text(const std::string& text, std::string_view command, std::string_view module);

}  // namespace hlosim
