// Custom calls that check values, as converted test programs have them: check.expect_eq,
// check.expect_almost_eq, check.expect_close.
//
//   FailedChecks failed;
//   add_check_calls(handlers, failed);             // before the program is made
//   for (const Diagnostic& one : failed.all()) …   // after it has run, in the order of the text
#pragma once

#include <mutex>
#include <vector>

#include "base/source.h"
#include "evaluate/evaluate.h"

namespace hlosim {

/// What checks found wrong while programs ran; devices may add to it at the same time.
class FailedChecks {
 public:
  void add(Diagnostic finding);
  /// Once for each check that failed, in the order of the text.
  std::vector<Diagnostic> all() const;
  void clear();

 private:
  mutable std::mutex mutex_;
  std::vector<Diagnostic> findings_;
};

/// A check that fails adds a finding at its place, with the first element that differs; the run goes on.
/// `failed` outlives the programs that are made with `handlers`.
void add_check_calls(CustomCallHandlers& handlers, FailedChecks& failed);

}  // namespace hlosim
