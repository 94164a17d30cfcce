#include "study/mesh_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "ops/op_table.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

/// How many are partitioned before the least of their bounds are simulated, and how many of these at a time.
constexpr size_t kBatch = 64, kWave = 8;

enum class Occasion : uint64_t { kSizes = 11, kResults };

/// Rank 0 has the results of a sweep; afterwards all have.
class Sharer {
 public:
  explicit Sharer(Ranks& ranks) : ranks_(ranks) {
    for (int rank = 0; rank < ranks.size(); ++rank)
      if (rank != ranks.rank()) peers_.push_back(rank);
  }

  Result<void> share(std::vector<SweepResult>& results, size_t count) {
    if (peers_.empty()) return {};
    std::string lines;
    for (size_t i = 0; i < results.size(); ++i)
      lines += journal_line(fmt::format("{:032x}", i), results[i]) + "\n";
    uint64_t size = lines.size();
    if (auto met = ranks_.meet(peers_, {static_cast<uint64_t>(Occasion::kSizes), "the results of meshes"});
        !met)
      return met;
    Message told(sizeof size);
    std::memcpy(told.data(), &size, sizeof size);
    told = sent_by_first(std::move(told), sizeof size);
    std::memcpy(&size, told.data(), sizeof size);
    if (auto met = ranks_.meet(peers_, {static_cast<uint64_t>(Occasion::kResults), "the results of meshes"});
        !met)
      return met;
    const auto* bytes = reinterpret_cast<const std::byte*>(lines.data());
    const Message text = sent_by_first(Message(bytes, bytes + lines.size()), size);
    if (ranks_.rank() != 0) read({reinterpret_cast<const char*>(text.data()), text.size()}, results, count);
    return {};
  }

 private:
  /// What rank 0 gave, at all.
  Message sent_by_first(Message given, size_t size) {
    std::vector<Message> outgoing(peers_.size()), incoming(peers_.size());
    if (ranks_.rank() == 0)
      for (Message& message : outgoing) message = given;
    else
      incoming[0].resize(size);  // peers are in order: rank 0 is the first
    ranks_.exchange(peers_, outgoing, incoming);
    return ranks_.rank() == 0 ? std::move(given) : std::move(incoming[0]);
  }

  static void read(std::string_view text, std::vector<SweepResult>& results, size_t count) {
    ResultsByKey by_key;
    for (; !text.empty(); text.remove_prefix(text.find('\n') + 1))
      read_journal_line(text.substr(0, text.find('\n')), by_key);
    results.clear();
    for (size_t i = 0; i < count; ++i) results.push_back(by_key[fmt::format("{:032x}", i)]);
  }

  Ranks& ranks_;
  std::vector<int> peers_;
};

struct Candidate {
  MeshRow row;
  const Module* module = nullptr;
  Bytes arguments{};
  bool is_open = true;  // nothing speaks against it, and it wasn't simulated yet
};

class Searcher {
 public:
  Searcher(const Device& device, const MeshTask& task, Ranks& ranks, SweepProgress& progress)
      : device_(device), task_(task), ranks_(ranks), progress_(progress), sharer_(ranks) {
    if (const auto capacity = device_capacity(device.config, device.config.hbm())) capacity_ = *capacity;
  }

  Result<MeshSearch> search(const Module& module) {
    const int64_t trips = task_.estimate.simulate.unknown_trip_count;
    Result<MeshChoices> choices = mesh_choices(module, op_table(), task_.question, trips);
    if (!choices) return tl::unexpected(choices.error());
    const Picoseconds whole = time_lower_bound(module, op_table(), device_, trips).products;
    // Where all have the same to do, nothing is known before they are partitioned.
    search_.left_out = std::move(choices->left_out);
    for (MeshChoice& choice : choices->list) {
      Candidate candidate;
      candidate.module = &module;
      candidate.row.text = std::move(choice.text);
      const bool is_known = task_.question.statements.empty() && task_.question.written_for.empty();
      const double share = is_known ? choice.flop_share : 0;
      candidate.row.bound = Picoseconds(static_cast<int64_t>(share * static_cast<double>(whole.count())));
      candidates_.push_back(std::move(candidate));
    }
    return run();
  }

  Result<MeshSearch> search(const std::vector<MeshProgram>& programs) {
    programs_ = &programs;
    for (size_t i = 0; i < programs.size(); ++i) {
      Candidate candidate;
      candidate.module = &programs[i].module;
      candidate.row.text = programs[i].mesh, candidate.row.note = programs[i].note;
      candidate.row.program = i, candidate.row.tokens = programs[i].tokens;
      candidates_.push_back(std::move(candidate));
    }
    return run();
  }

 private:
  using State = MeshRow::State;

  Result<MeshSearch> run() {
    for (size_t begin = 0; begin < candidates_.size(); begin += kBatch)
      if (Result<void> done = run_batch(begin, std::min(begin + kBatch, candidates_.size())); !done)
        return tl::unexpected(done.error());
    return finish();
  }

  void close(Candidate& candidate, State state, const std::string& note) {
    candidate.is_open = false;
    candidate.row.state = state;
    std::string& said = candidate.row.note;
    said += (said.empty() || note.empty() ? "" : ": ") + note;
  }

  /// Does its bound say that it can't be worth it?
  void rule_out(Candidate& candidate) {
    if (!candidate.is_open || task_.everything) return;
    if (candidate.arguments > capacity_)
      return close(candidate, State::kDoesNotFit,
                   fmt::format("arguments alone are {}", to_text(candidate.arguments)));
    const double bound = candidate.row.least_cost();
    if (bound > task_.within * best_cost_)
      return close(candidate, State::kRuledOut, fmt::format("at least {}", to_text(candidate.row.bound)));
    for (const size_t i : fitting_) {
      const MeshRow& other = candidates_[i].row;
      if (other.cost() > bound || other.value("hbm_peak") > static_cast<double>(candidate.arguments.count()))
        continue;
      return close(
          candidate, State::kRuledOut,
          fmt::format("no better than {}{}{}", other.text, other.note.empty() ? "" : " ", other.note));
    }
  }

  Result<void> run_batch(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) rule_out(candidates_[i]);
    const SimulateOptions& options = task_.estimate.simulate;
    parallel_for(static_cast<int64_t>(end - begin), 1, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to && options.go_on(); ++i)
        bound_by_program(candidates_[begin + static_cast<size_t>(i)]);
    });
    if (Result<void> go_on = options.go_on(); !go_on) return go_on;
    std::vector<size_t> order;
    for (size_t i = begin; i < end; ++i) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return candidates_[a].row.least_cost() < candidates_[b].row.least_cost();
    });
    for (size_t at = 0; at < order.size();) {
      std::vector<size_t> wave;
      for (; at < order.size() && wave.size() < kWave; ++at) {
        rule_out(candidates_[order[at]]);
        if (candidates_[order[at]].is_open) wave.push_back(order[at]);
      }
      if (wave.empty()) continue;
      if (Result<void> ran = simulate(wave); !ran) return ran;
    }
    return {};
  }

  /// The bound of what the choice makes of the module.
  void bound_by_program(Candidate& candidate) {
    if (!candidate.is_open) return;
    const Result<Module> spread = spread_module(*candidate.module, device_, task_, candidate.row.text);
    if (!spread) return close(candidate, State::kFailed, spread.error().message);
    const LeastTime least =
        time_lower_bound(*spread, op_table(), device_, task_.estimate.simulate.unknown_trip_count);
    candidate.row.bound = std::max(candidate.row.bound, least.time());
    candidate.arguments = least.arguments;
  }

  /// One program on many meshes; or programs of one mesh at a time.
  Result<void> simulate(const std::vector<size_t>& wave) {
    Experiment experiment = task_.experiment;
    if (!programs_) {
      SweepAxis meshes{SweepAxis::Kind::kKnob, "mesh", {}};
      for (const size_t i : wave) meshes.values.push_back(candidates_[i].row.text);
      experiment.axes.push_back(std::move(meshes));
      return simulate(experiment, wave);
    }
    std::vector<std::string> meshes;
    for (const size_t i : wave)
      if (std::ranges::count(meshes, candidates_[i].row.text) == 0) meshes.push_back(candidates_[i].row.text);
    for (const std::string& mesh : meshes) {
      Experiment own = experiment;
      own.axes.push_back({SweepAxis::Kind::kKnob, "mesh", {mesh}});
      own.modules.clear();
      std::vector<size_t> part;
      for (const size_t i : wave) {
        if (candidates_[i].row.text != mesh) continue;
        const MeshProgram& program = (*programs_)[candidates_[i].row.program];
        own.modules.push_back({program.note.empty() ? program.mesh : program.note, program.source});
        part.push_back(i);
      }
      if (Result<void> ran = simulate(own, part); !ran) return ran;
    }
    return {};
  }

  Result<void> simulate(const Experiment& experiment, const std::vector<size_t>& points) {
    Result<SweepRun> ran = run_sweep(experiment, task_.sweep, ranks_, progress_);
    if (!ran) return tl::unexpected(ran.error());
    search_.resumed += ran->resumed;
    search_.damaged = std::max(search_.damaged, ran->damaged);
    if (Result<void> shared = sharer_.share(ran->results, points.size()); !shared) return shared;
    for (size_t i = 0; i < points.size(); ++i) take(points[i], std::move(ran->results[i]));
    return {};
  }

  void take(size_t index, SweepResult result) {
    Candidate& candidate = candidates_[index];
    if (!result.ok()) return close(candidate, State::kFailed, result.error);
    close(candidate, State::kSimulated, "");
    candidate.row.result = std::move(result);
    if (!candidate.row.fits()) return;
    fitting_.push_back(index);
    best_cost_ = std::min(best_cost_, candidate.row.cost());
  }

  Result<MeshSearch> finish() {
    for (Candidate& candidate : candidates_) search_.rows.push_back(std::move(candidate.row));
    const auto rank = [](const MeshRow& row) {
      return row.fits() ? 0 : row.state == State::kSimulated ? 1 : 2;
    };
    std::stable_sort(search_.rows.begin(), search_.rows.end(), [&](const MeshRow& a, const MeshRow& b) {
      if (rank(a) != rank(b)) return rank(a) < rank(b);
      return rank(a) < 2 ? a.cost() < b.cost() : a.least_cost() < b.least_cost();
    });
    double least = std::numeric_limits<double>::max();  // memory of those that are faster
    for (size_t i = 0; i < search_.rows.size() && search_.rows[i].fits(); ++i) {
      MeshRow& row = search_.rows[i];
      row.is_front = row.value("hbm_peak") < least;
      least = std::min(least, row.value("hbm_peak"));
    }
    if (!search_.rows.empty() && search_.rows[0].fits()) search_.best = 0;
    return std::move(search_);
  }

  const Device& device_;
  const MeshTask& task_;
  Ranks& ranks_;
  SweepProgress& progress_;
  Sharer sharer_;
  const std::vector<MeshProgram>* programs_ = nullptr;
  Bytes capacity_{std::numeric_limits<int64_t>::max()};
  std::vector<Candidate> candidates_;
  std::vector<size_t> fitting_;
  double best_cost_ = std::numeric_limits<double>::infinity();
  MeshSearch search_;
};

}  // namespace

std::string_view to_text(MeshRow::State state) {
  constexpr std::string_view kNames[] = {"simulated", "failed", "too large", "ruled out"};
  return kNames[static_cast<size_t>(state)];
}

double MeshRow::value(std::string_view metric) const {
  return result.values[static_cast<size_t>(metric_index(metric))];
}

Result<MeshSearch> search_meshes(const Module& module, const Device& device, const MeshTask& task,
                                 Ranks& ranks, SweepProgress& progress) {
  return Searcher(device, task, ranks, progress).search(module);
}

Result<MeshSearch> search_programs(const std::vector<MeshProgram>& programs, const Device& device,
                                   const MeshTask& task, Ranks& ranks, SweepProgress& progress) {
  return Searcher(device, task, ranks, progress).search(programs);
}

Result<Module> spread_module(const Module& module, const Device& device, const MeshTask& task,
                             const std::string& text) {
  const Result<MeshRequest> request = parse_mesh_request(text);
  if (!request) return tl::unexpected(request.error());
  Result<PartitionedProgram> spread = partition_over_mesh(module, op_table(), device, task.estimate.simulate,
                                                          by_flags(*request, task.estimate.compiler));
  if (!spread) return tl::unexpected(spread.error());
  return std::move(spread->module);
}

}  // namespace hlosim
