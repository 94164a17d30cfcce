// A regular expression in RE2's syntax: matched in time linear in the text; without lookaround and
// backreferences. Headers that name one don't bring <re2/re2.h>.
//
//   const Result<Pattern> pattern = Pattern::parse("fusion\\.[0-9]+");
//   pattern->finds("a.fusion.12");    // somewhere in the text: true
//   pattern->matches("a.fusion.12");  // all of the text: false
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/source.h"

namespace hlosim {

class Pattern {
 public:
  /// Any text.
  Pattern() = default;
  /// The error has the expression, and the part of it that is wrong: "'a(' is no regular expression: …".
  static Result<Pattern> parse(const std::string& expression);

  bool finds(std::string_view text) const;
  bool matches(std::string_view text) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;  // null: any text
};

}  // namespace hlosim
