#include "study/sweep_run.h"

#include <fmt/format.h>

#include <cstring>
#include <mutex>
#include <optional>
#include <unordered_set>

#include "threads/parallel.h"

namespace hlosim {
namespace {

enum class Occasion : uint64_t { kBegin = 1, kSizes, kResults };

class Sweeper {
 public:
  Sweeper(const Experiment& experiment, const SweepOptions& options, Ranks& ranks, SweepProgress& progress)
      : experiment_(experiment), options_(options), ranks_(ranks), progress_(progress), runner_(experiment) {
    for (int rank = 0; rank < ranks.size(); ++rank)
      if (rank != ranks.rank()) peers_.push_back(rank);
  }

  Result<SweepRun> run() {
    find_keys();
    if (auto read = read_known(); !read) return tl::unexpected(read.error());
    if (auto shared = share_known(); !shared) return tl::unexpected(shared.error());
    if (auto opened = open_journal(); !opened) return tl::unexpected(opened.error());
    run_own();
    if (failed_) return tl::unexpected(*failed_);
    if (is_stopped()) return failure(progress_.stop->why());
    if (auto gathered = gather(); !gathered) return tl::unexpected(gathered.error());
    if (ranks_.rank() == 0)
      for (const std::string& key : keys_) run_.results.push_back(known_.at(key));
    return std::move(run_);
  }

 private:
  bool is_stopped() const { return progress_.stop && progress_.stop->asked(); }

  void find_keys() {
    keys_.resize(static_cast<size_t>(experiment_.size()));
    parallel_for(experiment_.size(), 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        keys_[static_cast<size_t>(i)] = runner_.key(point_at(experiment_, i), options_.version);
    });
    is_known_.resize(keys_.size());
  }

  Result<void> read_known() {
    if (options_.journal.empty() || ranks_.rank() != 0) return {};
    Result<ResultsByKey> read = read_journal(options_.journal, run_.damaged);
    if (!read) return tl::unexpected(read.error());
    known_ = std::move(*read);
    for (size_t i = 0; i < keys_.size(); ++i) {
      is_known_[i] = std::byte{known_.contains(keys_[i])};
      run_.resumed += is_known_[i] == std::byte{1};
    }
    return {};
  }

  Result<void> meet(Occasion occasion, const char* what) {
    return ranks_.meet(peers_, {static_cast<uint64_t>(occasion), what});
  }

  /// Only rank 0 reads journals, before any other writes to one; the others learn what it found.
  Result<void> share_known() {
    if (peers_.empty()) return {};
    if (auto met = meet(Occasion::kBegin, "the beginning of the sweep"); !met) return met;
    std::vector<Message> outgoing(peers_.size()), incoming(peers_.size());
    if (ranks_.rank() == 0)
      for (Message& message : outgoing) message = is_known_;
    else
      incoming[0].resize(is_known_.size());  // peers are in order: rank 0 is the first
    ranks_.exchange(peers_, outgoing, incoming);
    if (ranks_.rank() != 0) is_known_ = incoming[0];
    return {};
  }

  Result<void> open_journal() {
    if (options_.journal.empty()) return {};
    return journal_.open(ranks_.rank() == 0 ? options_.journal
                                            : fmt::format("{}.{}", options_.journal, ranks_.rank()));
  }

  /// Every size()-th of the points that are left.
  void run_own() {
    std::vector<int64_t> own;
    std::unordered_set<std::string_view> seen;
    size_t left = 0;
    for (size_t i = 0; i < keys_.size(); ++i) {
      if (is_known_[i] == std::byte{1} || !seen.insert(keys_[i]).second) continue;
      if (left++ % static_cast<size_t>(ranks_.size()) == static_cast<size_t>(ranks_.rank()))
        own.push_back(static_cast<int64_t>(i));
    }
    progress_.total = static_cast<int64_t>(own.size());
    parallel_for(static_cast<int64_t>(own.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end && !stop_ && !is_stopped(); ++i) run_point(own[static_cast<size_t>(i)]);
    });
  }

  void run_point(int64_t index) {
    SweepResult result = runner_.run(point_at(experiment_, index));
    if (is_stopped()) return;  // it may be none
    const std::string& key = keys_[static_cast<size_t>(index)];
    Result<void> kept;
    if (journal_.is_open()) kept = journal_.add(key, result);
    const std::lock_guard lock(mutex_);
    if (!kept && !failed_) {
      failed_ = kept.error();
      stop_ = true;
    }
    own_keys_.push_back(index);
    known_.insert_or_assign(key, std::move(result));
    ++progress_.done;
  }

  /// Rank 0 gets the others' results as lines of a journal.
  Result<void> gather() {
    if (peers_.empty()) return {};
    std::string lines;
    if (ranks_.rank() != 0)
      for (const int64_t index : own_keys_) {
        const std::string& key = keys_[static_cast<size_t>(index)];
        lines += journal_line(key, known_.at(key)) + "\n";
      }
    const uint64_t size = lines.size();
    if (auto met = meet(Occasion::kSizes, "the end of the sweep"); !met) return met;
    std::vector<Message> outgoing(peers_.size()), incoming(peers_.size());
    if (ranks_.rank() == 0) {
      for (Message& message : incoming) message.resize(sizeof size);
    } else {
      outgoing[0].resize(sizeof size);
      std::memcpy(outgoing[0].data(), &size, sizeof size);
    }
    ranks_.exchange(peers_, outgoing, incoming);
    if (auto met = meet(Occasion::kResults, "the results of the sweep"); !met) return met;
    if (ranks_.rank() == 0) {
      for (Message& message : incoming) {
        uint64_t expected = 0;
        std::memcpy(&expected, message.data(), sizeof expected);
        message.assign(expected, std::byte{});
      }
    } else {
      const auto* bytes = reinterpret_cast<const std::byte*>(lines.data());
      outgoing[0].assign(bytes, bytes + lines.size());
    }
    ranks_.exchange(peers_, outgoing, incoming);
    for (const Message& message : incoming) {
      std::string_view text(reinterpret_cast<const char*>(message.data()), message.size());
      for (; !text.empty(); text.remove_prefix(text.find('\n') + 1))
        read_journal_line(text.substr(0, text.find('\n')), known_);
    }
    return {};
  }

  const Experiment& experiment_;
  const SweepOptions& options_;
  Ranks& ranks_;
  SweepProgress& progress_;
  PointRunner runner_;
  std::vector<int> peers_;
  std::vector<std::string> keys_;  // by point
  Message is_known_;               // by point: 1 if a journal has it
  std::mutex mutex_;
  ResultsByKey known_;
  std::vector<int64_t> own_keys_;  // points that ran here
  Journal journal_;
  std::optional<Diagnostic> failed_;
  std::atomic<bool> stop_{false};
  SweepRun run_;
};

}  // namespace

Result<SweepRun> run_sweep(const Experiment& experiment, const SweepOptions& options, Ranks& ranks,
                           SweepProgress& progress) {
  return Sweeper(experiment, options, ranks, progress).run();
}

}  // namespace hlosim
