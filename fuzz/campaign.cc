#include "campaign.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <new>
#include <thread>

#include "base/check.h"

namespace hlosim::fuzz {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr size_t kMostTargets = 64, kMostWorkers = 64;
constexpr uint64_t kMostHangs =
    4;                         // of a target, before it is left alone: each costs as much as 10,000 others
constexpr auto kTurn = 250ms;  // of a target

struct Counter {
  std::atomic<uint64_t> next{0};  // execution of this worker's share
  std::atomic<uint64_t> executions{0}, right{0}, nanoseconds{0}, slowest{0}, slowest_number{0};
};

/// What one worker does, for whoever watches it.
struct Slot {
  std::atomic<uint64_t> started{0};  // executions so far; even: none is going on
  std::atomic<size_t> target{0};
  std::atomic<uint64_t> number{0};
  std::atomic<size_t> turn{0};  // whose it is: a worker that is started anew goes on there
  std::array<Counter, kMostTargets> counters;
};

/// In memory that all processes share.
struct Board {
  std::array<Slot, kMostWorkers> slots;
  std::array<std::atomic<bool>, kMostTargets> left_alone{};
};

class Shared {
 public:
  Shared()
      : memory_(::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    HLOSIM_CHECK(memory_ != MAP_FAILED, "no shared memory");
    board_ = new (memory_) Board;
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { ::munmap(memory_, sizeof(Board)); }
  Board& board() { return *board_; }

 private:
  void* memory_;
  Board* board_;
};

/// The process that executes its share: every so manieth number of all targets in turn.
class Worker {
 public:
  Worker(const Bench& bench, const CampaignOptions& options, Board& board, size_t index)
      : bench_(bench), options_(options), board_(board), slot_(board.slots[index]), index_(index) {}

  void run(Clock::time_point end) {
    slot_.started = 0;
    const size_t count = options_.targets.size();
    for (size_t idle = 0; idle < count && Clock::now() < end; ++slot_.turn) {
      const size_t target = (slot_.turn + index_ * count / options_.workers) % count;
      const Clock::time_point turn_end = std::min(end, Clock::now() + kTurn);
      ++idle;
      while (!board_.left_alone[target] && Clock::now() < turn_end && execute(target)) idle = 0;
    }
  }

 private:
  bool execute(size_t target) {
    Counter& counter = slot_.counters[target];
    const uint64_t number = counter.next * options_.workers + index_;
    if (options_.executions > 0 && number >= options_.executions) return false;
    ++counter.next;
    slot_.target = target;
    slot_.number = number;
    ++slot_.started;
    const Clock::time_point start = Clock::now();
    Execution execution = make_execution(bench_, *options_.targets[target], options_.seed, number);
    const bool right = options_.targets[target]->run(bench_, execution.input, execution.choice);
    const auto took = static_cast<uint64_t>((Clock::now() - start) / 1ns);
    ++slot_.started;
    counter.executions += 1;
    counter.right += right;
    counter.nanoseconds += took;
    if (took > counter.slowest) {
      counter.slowest = took;
      counter.slowest_number = number;
    }
    return true;
  }

  const Bench& bench_;
  const CampaignOptions& options_;
  Board& board_;
  Slot& slot_;
  size_t index_;
};

/// Starts workers, sees how each gets on, and starts them anew where they end.
class ResourceGuard {
 public:
  ResourceGuard(const Bench& bench, const CampaignOptions& options, Board& board,
                const std::function<void(const Finding&)>& found, Campaign& campaign)
      : bench_(bench), options_(options), board_(board), found_(found), campaign_(campaign) {}

  void run() {
    end_ = Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.seconds));
    seen_.resize(options_.workers);
    for (size_t i = 0; i < options_.workers; ++i) start(i);
    while (std::any_of(seen_.begin(), seen_.end(), [](const Seen& one) { return one.process > 0; })) {
      for (size_t i = 0; i < options_.workers; ++i)
        if (seen_[i].process > 0) look_at(i);
      std::this_thread::sleep_for(10ms);
    }
  }

 private:
  struct Seen {
    pid_t process = 0;
    uint64_t started = 0;  // of its slot, when `seconds` was taken
    double seconds = 0;
  };

  std::string error_file(size_t index) const { return fmt::format("{}/worker-{}.err", bench_.folder, index); }

  void start(size_t index) {
    const pid_t child = ::fork();
    HLOSIM_CHECK(child >= 0, "no further process");
    if (child == 0) {
      report_signals(error_file(index));
      Worker(bench_, options_, board_, index).run(end_);
      ::_exit(0);
    }
    seen_[index] = {child, 0, 0};
  }

  void look_at(size_t index) {
    Seen& seen = seen_[index];
    int status = 0;
    if (::waitpid(seen.process, &status, WNOHANG) == seen.process) return ended(index, status, Fault::kNone);
    const uint64_t started = board_.slots[index].started;
    const double seconds = processor_seconds(seen.process);
    if (started != seen.started) {
      seen.started = started;
      seen.seconds = seconds;
    }
    if (started % 2 == 1 && seconds - seen.seconds > options_.limits.seconds)
      return ended(index, stop(seen.process), Fault::kHang);
    if (resident_bytes(seen.process) > options_.limits.bytes)
      return ended(index, stop(seen.process), Fault::kMemory);
  }

  void ended(size_t index, int status, Fault fault) {
    seen_[index].process = 0;
    Outcome outcome = outcome_of(status, fault, error_file(index));
    if (outcome.fault == Fault::kNone && status == 0) return;
    const size_t target = board_.slots[index].target;
    if (outcome.fault != Fault::kNone) note(target, board_.slots[index].number, std::move(outcome));
    board_.slots[index].counters[target].executions += 1;
    if (Clock::now() < end_) start(index);
  }

  void note(size_t target, uint64_t number, Outcome outcome) {
    const Target* const one = options_.targets[target];
    for (Finding& finding : campaign_.findings)
      if (finding.target == one && finding.outcome.key == outcome.key) {
        if (++finding.times >= kMostHangs && outcome.fault != Fault::kSignal)
          board_.left_alone[target] = true;
        return;
      }
    campaign_.findings.push_back({one, number, std::move(outcome)});
    found_(campaign_.findings.back());
  }

  const Bench& bench_;
  const CampaignOptions& options_;
  Board& board_;
  const std::function<void(const Finding&)>& found_;
  Campaign& campaign_;
  Clock::time_point end_;
  std::vector<Seen> seen_;
};

}  // namespace

Execution make_execution(const Bench& bench, const Target& target, uint64_t seed, uint64_t number) {
  const Random random(Fnv1a().add_word(seed).add_text(target.name).add_word(number).value());
  Random input = random.fork("input");
  return {make_input(bench, target.form, input), random.fork("choice")};
}

Campaign run_campaign(const Bench& bench, const CampaignOptions& options,
                      const std::function<void(const Finding&)>& found) {
  HLOSIM_CHECK(options.targets.size() <= kMostTargets && options.workers <= kMostWorkers);
  Shared shared;
  Campaign campaign;
  ResourceGuard(bench, options, shared.board(), found, campaign).run();
  campaign.counts.resize(options.targets.size());
  for (size_t target = 0; target < options.targets.size(); ++target)
    for (size_t worker = 0; worker < options.workers; ++worker) {
      const Counter& counter = shared.board().slots[worker].counters[target];
      TargetCount& count = campaign.counts[target];
      count.executions += counter.executions;
      count.right += counter.right;
      count.nanoseconds += counter.nanoseconds;
      if (counter.slowest < count.slowest) continue;
      count.slowest = counter.slowest;
      count.slowest_number = counter.slowest_number;
    }
  return campaign;
}

}  // namespace hlosim::fuzz
