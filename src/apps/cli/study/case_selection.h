// Which measured cases --only asks for: `--only device=v4 --only kind=matmul --only kind=softmax`.
//
//   const Result<CaseSelection> selection = CaseSelection::parse(options.only);
//   std::erase_if(cases, [&](const MeasuredCase& one) { return !selection->takes(one); });
#pragma once

#include <string>
#include <vector>

#include "base/source.h"
#include "study/measured_cases.h"

namespace hlosim {

/// Values of one key are alternatives, keys narrow each other down.
class CaseSelection {
 public:
  /// Errors: a text that is not KEY=VALUE, a key that isn't known.
  static Result<CaseSelection> parse(const std::vector<std::string>& texts);
  bool takes(const MeasuredCase& one) const;

 private:
  std::vector<std::vector<std::string>> wanted_;  // by selector
};

}  // namespace hlosim
