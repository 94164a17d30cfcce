// Without RE2: the standard library's expressions. What they don't take ends the program, as there are no
// exceptions: only expressions of ours come here, and they are of the syntax that both have.
#include <regex>

#include "base/pattern.h"

namespace hlosim {

struct Pattern::Compiled {
  std::regex regex;
};

Result<Pattern> Pattern::parse(const std::string& expression) {
  Pattern pattern;
  pattern.compiled_ = std::make_shared<const Compiled>(Compiled{std::regex(expression)});
  return pattern;
}

bool Pattern::finds(std::string_view text) const {
  return !compiled_ || std::regex_search(text.begin(), text.end(), compiled_->regex);
}

bool Pattern::matches(std::string_view text) const {
  return !compiled_ || std::regex_match(text.begin(), text.end(), compiled_->regex);
}

}  // namespace hlosim
