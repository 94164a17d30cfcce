// Many executions of many targets, on several processes that are watched.
//
//   const Campaign campaign = run_campaign(bench, {.targets = {find_target("lower")}, .seconds = 60});
//   const uint64_t number = campaign.findings[0].number;
//   make_execution(bench, target, seed, number)  // has the input of the finding
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench.h"
#include "execution.h"
#include "targets.h"

namespace hlosim::fuzz {

struct CampaignOptions {
  std::vector<const Target*> targets;
  double seconds = 60;
  uint64_t executions = 0;  // of each target at most; 0: as many as the time allows
  uint64_t seed = 1;
  size_t workers = 1;
  ExecutionLimits limits;
};

struct Finding {
  const Target* target = nullptr;
  uint64_t number = 0;
  Outcome outcome;
  uint64_t times = 1;  // that this target ended so
};

struct TargetCount {
  uint64_t executions = 0;
  uint64_t right = 0;  // of them: inputs that were taken
  uint64_t nanoseconds = 0, slowest = 0, slowest_number = 0;
};

struct Campaign {
  std::vector<TargetCount> counts;  // by target
  std::vector<Finding> findings;    // one of each kind
};

/// `found` is told of every finding that is the first of its kind.
Campaign run_campaign(const Bench& bench, const CampaignOptions& options,
                      const std::function<void(const Finding&)>& found);

/// What an execution is given.
struct Execution {
  std::string input;
  Random choice;
};
Execution make_execution(const Bench& bench, const Target& target, uint64_t seed, uint64_t number);

}  // namespace hlosim::fuzz
