// From the text of an input to modules, as commands read them.
//
//   const std::optional<std::vector<Module>> modules = read_right(input);    // null: it was refused
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/source.h"
#include "hlo/module.h"

namespace hlosim::fuzz {

SourcePtr source_of(std::string text);

/// Renders everything, as a terminal would have it. True: there is no error.
bool told(const DiagnosticList& findings);
void told(const Diagnostic& diagnostic);

/// Verified, one at least; null: it was refused, with a reason.
std::optional<std::vector<Module>> read_right(const std::string& text);

/// A text that hlosim made: stops the program, naming `maker`, when it isn't right.
void require_right(const std::string& text, const char* maker);

}  // namespace hlosim::fuzz
