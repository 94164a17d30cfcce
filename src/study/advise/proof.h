// Proof of advice: the program before and after a change runs on this processor, on the same random inputs,
// at smaller sizes where those of the program are too large.
//
//   const Proof proof = prove(before, after, ProofKind::kSameResults, op_table(), stop);
//   proof.state                                    // kProven; kRefuted: the results differ
#pragma once

#include <string>

#include "advise/advice_kind.h"
#include "advise/trial_setup.h"
#include "base/stop.h"

namespace hlosim {

struct Proof {
  enum class State : uint8_t {
    kNotTried,
    kProven,       // executed: same results, within the tolerance of their types
    kNotNeeded,    // the program is the same
    kNotPossible,  // `text` says why
    kRefuted,      // executed: other results
  };
  State state = State::kNotTried;
  std::string text;  // "same results, run at sizes divided by up to 64"
};
std::string_view to_text(Proof::State state);

/// `edit` was applied to `before` and gave `after`; it is applied to a smaller `before` where sizes ask for
/// that. Errors are states.
Proof prove(const TrialSetup& before, const TrialSetup& after, const Proposal& proposal, const OpTable& table,
            const Stop* stop);

}  // namespace hlosim
