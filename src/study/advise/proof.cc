#include "advise/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "array/arguments.h"
#include "array/compare.h"
#include "array/memory_pool.h"
#include "base/check.h"
#include "estimate/unpartitioned.h"
#include "modules/edit.h"
#include "partition/partition.h"
#include "partition_check/device_runs.h"
#include "partition_check/wide_floats.h"
#include "shrink/shrink.h"
#include "workloads/model_config.h"

namespace hlosim {
namespace {

using Arrays = std::vector<Array>;

// What runs within about a second on one processor.
constexpr int64_t kEasyBytes = int64_t{256} << 20;
constexpr double kEasyProducts = 1e9;
constexpr int64_t kMostProvenDevices = 16;
// Rounding to bf16 (8 bits), for sums of many products: a share of the array's largest element.
constexpr double kRoundingShare = 0.02;

/// A module ready to run on all devices that it needs.
class ProvenProgram {
 public:
  ProvenProgram(Module module, int64_t devices, const OpTable& table, MemoryPool& pool)
      : module_(std::move(module)), devices_(devices), run_(module_, table, devices, pool) {}
  ProvenProgram(const ProvenProgram&) = delete;

  /// The meaning of a module that may be sharded: the program of all devices.
  static Result<std::unique_ptr<ProvenProgram>> make(const Module& module, const OpTable& table,
                                                     MemoryPool& pool) {
    Result<std::pair<Module, int64_t>> whole = executable(module, table);
    if (!whole) return tl::unexpected(std::move(whole.error()));
    auto made = std::make_unique<ProvenProgram>(std::move(whole->first), whole->second, table, pool);
    if (Result<void> ready = made->run_.prepare(kEasyBytes); !ready)
      return tl::unexpected(std::move(ready.error()));
    return made;
  }

  const Module& module() const { return module_; }
  int64_t devices() const { return devices_; }
  DevicesRun& run() { return run_; }
  bool is_easy() const { return run_.peak_bytes() <= kEasyBytes && run_.products() <= kEasyProducts; }

 private:
  static Result<std::pair<Module, int64_t>> executable(const Module& module, const OpTable& table) {
    if (module.replica_count() > 1) return failure("several replicas are not executed");
    int64_t devices = unpartitioned_devices(module, table);
    Module whole = module.copy();
    if (devices > 0) {
      PartitionOptions options;
      options.devices = devices;
      options.replicate_all = true;
      options.hoist_bytes = options.combine_moves_bytes = options.combine_reductions_bytes = 0;
      Result<Partitioned> partitioned = partition(module, table, options);
      if (!partitioned) return tl::unexpected(std::move(partitioned.error()));
      whole = std::move(partitioned->module);
    } else {
      devices = module.num_partitions();
    }
    if (runs_alone(whole, table)) devices = 1;
    if (devices > kMostProvenDevices)
      return failure(fmt::format("{} devices are too many to execute", devices));
    return std::pair(std::move(whole), devices);
  }

  Module module_;
  int64_t devices_;
  DevicesRun run_;
};

/// Programs before and after, at the sizes at which they are run.
struct ProgramPair {
  std::unique_ptr<ProvenProgram> before, after;
  std::map<int64_t, std::shared_ptr<const Module>> prepared;
  int64_t scale = 1;
};

bool same_arrays(std::span<const ShapeRef> a, std::span<const ShapeRef> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](ShapeRef x, ShapeRef y) {
    return x->kind == y->kind && x->element_type == y->element_type &&
           std::ranges::equal(x->dimensions, y->dimensions);
  });
}

/// The same structure with smaller sizes; the model itself where these don't go together.
ModelConfig small_model(const ModelConfig& model) {
  constexpr int64_t kWidth = 256, kHeads = 8, kExperts = 8;
  ModelConfig small = model;
  int64_t layers = std::max<int64_t>(2, static_cast<int64_t>(model.attention.pattern.size()));
  if (small.moe) {
    MoeConfig& moe = *small.moe;
    layers = std::max(layers, moe.first_dense_layers + moe.every);
    moe.experts = std::min(moe.experts, std::max(kExperts, moe.top_k));
    moe.d_ff = std::min(moe.d_ff, kWidth);
    moe.d_ff_shared = std::min(moe.d_ff_shared, kWidth);
  }
  small.layers = std::min(model.layers, layers);
  small.d_model = std::min(model.d_model, kWidth);
  small.d_ff = std::min(model.d_ff, kWidth);
  small.vocab = std::min(model.vocab, kWidth);
  if (model.kv_heads > 0 && model.q_heads % model.kv_heads == 0 && model.q_heads > kHeads) {
    small.kv_heads = std::min<int64_t>(model.kv_heads, 2);
    small.q_heads = small.kv_heads * (model.q_heads / model.kv_heads);
  }
  return model_fault(small) ? model : small;
}

class Prover {
 public:
  Prover(const Proposal& proposal, const OpTable& table, const Stop* stop)
      : proposal_(proposal), table_(table), stop_(stop) {}

  Proof run(TrialSetup before, TrialSetup after) {
    if (Result<void> alone = on_one_device(before, after); !alone) return impossible(alone.error().message);
    Result<ProgramPair> pair = easy_pair(before, after);
    if (!pair) return impossible(pair.error().message);
    const Result<Proof> made = compared(*pair);
    return made ? *made : impossible(made.error().message);
  }

 private:
  static Proof impossible(const std::string& why) { return {Proof::State::kNotPossible, why}; }

  /// Steps of model files are executed on one device, for a small model of the same structure and a few short
  /// sequences.
  Result<void> on_one_device(TrialSetup& before, TrialSetup& after) const {
    if (!before.model) return {};
    constexpr int64_t kSequences = 2, kTokens = 128;
    const auto config = std::make_shared<const ModelConfig>(small_model(*before.model->config));
    for (TrialSetup* setup : {&before, &after}) {
      setup->model->config = config;
      StepOptions& step = setup->model->step;
      step.mesh = {};
      step.batch = kSequences;
      step.sequence = std::min(step.sequence, kTokens);
      step.tiles = {};  // fit the sequence
      setup->options.mesh.reset();
      if (proposal_.stage == EditStage::kModel || setup == &before)
        if (Result<void> made = remake_step(*setup); !made) return made;
    }
    if (proposal_.stage == EditStage::kModel) return {};
    after = before;
    return proposal_.edit(after);
  }

  Result<ProgramPair> pair_of(const Module& before, const Module& after) {
    ProgramPair pair;
    auto first = ProvenProgram::make(before, table_, pool_);
    if (!first) return tl::unexpected(std::move(first.error()));
    auto second = ProvenProgram::make(after, table_, pool_);
    if (!second) return tl::unexpected(std::move(second.error()));
    pair.before = std::move(*first), pair.after = std::move(*second);
    return pair;
  }

  /// Both at sizes divided by up to `scale`. The change is made on the smaller module where it is one of the
  /// module; other pairs shrink side by side.
  Result<ProgramPair> smaller_pair(const TrialSetup& before, const TrialSetup& after, int64_t scale) {
    const ShrinkOptions options{.scale = scale, .min_size = 4, .layers = 2};
    Result<Shrunk> small = shrink(*before.module, table_, options);
    if (!small) return tl::unexpected(std::move(small.error()));
    TrialSetup changed = before;
    changed.prepared_arguments.clear();
    if (proposal_.stage == EditStage::kModule) {
      changed.module = std::make_shared<const Module>(small->module.copy());
      if (Result<void> made = proposal_.edit(changed); !made) return tl::unexpected(std::move(made.error()));
    } else {
      Result<Shrunk> other = shrink(*after.module, table_, options);
      if (!other) return tl::unexpected(std::move(other.error()));
      changed.module = std::make_shared<const Module>(std::move(other->module));
    }
    Result<ProgramPair> pair = pair_of(small->module, *changed.module);
    if (pair) pair->prepared = changed.prepared_arguments, pair->scale = scale;
    return pair;
  }

  /// The first of: as they are, smaller, still smaller, that runs within about a second.
  Result<ProgramPair> easy_pair(const TrialSetup& before, const TrialSetup& after) {
    Result<ProgramPair> pair = failure("not executed");
    if (may_be_easy(*before.module)) {
      pair = pair_of(*before.module, *after.module);
      if (!pair) return pair;
      pair->prepared = after.prepared_arguments;
      if (pair->before->is_easy() && pair->after->is_easy()) return pair;
    }
    for (const int64_t scale : {8, 64, 512}) {
      if (stop_ && stop_->asked()) return failure(stop_->why());
      pair = smaller_pair(before, after, scale);
      if (pair && pair->before->is_easy() && pair->after->is_easy()) return pair;
    }
    if (!pair) return pair;
    return failure("no smaller sizes make a program that runs within seconds");
  }

  /// Its arguments alone don't rule it out: preparing a program makes its constants.
  bool may_be_easy(const Module& module) const {
    int64_t bytes = 0;
    for (const InstructionId id : module.entry_computation().parameters)
      for_each_leaf(module[id].shape, [&](ShapeRef leaf) {
        if (leaf->is_array() && !leaf->is_static()) bytes = kEasyBytes + 1;
        if (leaf->is_array() && bytes <= kEasyBytes) bytes += std::min(data_bytes(leaf), kEasyBytes + 1);
      });
    return bytes <= kEasyBytes;
  }

  /// What the program after the change is given in place of an argument.
  Result<Array> prepared_argument(const Module& maker, const Array& argument) {
    Module module = maker.copy();
    DevicesRun run(module, table_, 1, pool_);
    if (Result<void> ready = run.prepare(kEasyBytes); !ready) return tl::unexpected(ready.error());
    auto made = run.run({{argument}}, stop_);
    if (!made) return tl::unexpected(made.error());
    return std::move((*made)[0][0]);
  }

  Result<Arrays> arguments(ProvenProgram& program, int64_t device, bool is_same_everywhere) {
    Arrays made;
    const auto leaves = program.run().parameters();
    for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
      const uint64_t stream = leaf + (is_same_everywhere ? 0 : static_cast<uint64_t>(device) * leaves.size());
      made.push_back(leaves[leaf]->is_array() ? random_array(leaves[leaf], 1, stream, pool_)
                                              : Array{leaves[leaf], {}, {}});
    }
    return made;
  }

  /// The leaf number of an entry parameter. Requires: it is an array.
  static size_t leaf_of(const Module& module, int64_t parameter) {
    int64_t leaf = 0;
    for (int64_t i = 0; i < parameter; ++i)
      leaf += leaf_count(module[module.entry_computation().parameters[static_cast<size_t>(i)]].shape);
    return static_cast<size_t>(leaf);
  }

  Result<std::vector<Arrays>> results(ProvenProgram& program, std::vector<Arrays> inputs) {
    if (program.devices() == 1) inputs.resize(1);
    for (Arrays& values : inputs)
      for (size_t i = 0; i < values.size(); ++i) values[i].shape = program.run().parameters()[i];
    return program.run().run(std::move(inputs), stop_);
  }

  Result<Proof> compared(ProgramPair& pair) {
    const auto devices = static_cast<size_t>(std::max(pair.before->devices(), pair.after->devices()));
    const bool is_same = pair.before->devices() != pair.after->devices();
    std::vector<Arrays> given, changed;
    for (size_t device = 0; device < devices; ++device) {
      Result<Arrays> own = arguments(*pair.before, static_cast<int64_t>(device), is_same);
      if (!own) return tl::unexpected(own.error());
      given.push_back(*own);
      for (const auto& [parameter, maker] : pair.prepared) {
        Array& argument = (*own)[leaf_of(pair.before->module(), parameter)];
        Result<Array> made = prepared_argument(*maker, argument);
        if (!made) return tl::unexpected(made.error());
        argument = std::move(*made);
      }
      changed.push_back(std::move(*own));
    }
    if (Result<void> alike = expect_alike(pair, changed[0]); !alike) return tl::unexpected(alike.error());
    Proof proof = judged(pair, given, changed);
    if (proof.state != Proof::State::kRefuted || proposal_.proof != ProofKind::kSameResults) return proof;
    return without_rounding(pair).value_or(proof);
  }

  static Result<void> expect_alike(const ProgramPair& pair, const Arrays& changed) {
    std::vector<ShapeRef> given;
    for (const Array& array : changed) given.push_back(array.shape);
    if (!same_arrays(pair.after->run().parameters(), given))
      return failure("the programs don't have the same arguments at smaller sizes");
    if (!same_arrays(pair.before->run().results(), pair.after->run().results()))
      return failure("the programs don't have the same results at smaller sizes");
    return {};
  }

  Proof judged(ProgramPair& pair, std::vector<Arrays> given, std::vector<Arrays> changed) {
    const Result<std::vector<Arrays>> expected = results(*pair.before, std::move(given));
    if (!expected) return impossible(expected.error().message);
    const Result<std::vector<Arrays>> actual = results(*pair.after, std::move(changed));
    if (!actual) return impossible(actual.error().message);
    const bool rounds = proposal_.proof == ProofKind::kRounding;
    double largest_share = 0;
    for (size_t device = 0; device < actual->size(); ++device) {
      const Arrays& wanted = (*expected)[std::min(device, expected->size() - 1)];
      for (size_t leaf = 0; leaf < wanted.size(); ++leaf) {
        if (!wanted[leaf].shape->is_array()) continue;
        const Comparison comparison =
            compare((*actual)[device][leaf], wanted[leaf], tolerance_of_sums(wanted[leaf], pool_));
        const double magnitude = compare(wanted[leaf], zero_array(wanted[leaf].shape, pool_), {}).max_abs;
        const double share = magnitude > 0 ? comparison.max_abs / magnitude : comparison.max_abs;
        largest_share = std::max(largest_share, comparison.misplaced > 0 ? 1 : share);
        if (!rounds && !comparison.within())
          return {Proof::State::kRefuted,
                  fmt::format("result {} differs by up to {:.2g}", leaf, comparison.max_abs)};
      }
    }
    if (rounds && largest_share > kRoundingShare)
      return {Proof::State::kRefuted,
              fmt::format("results differ by up to {:.2g} of their largest element", largest_share)};
    return {Proof::State::kProven, text(pair, proposal_.stage == EditStage::kModel, rounds, largest_share)};
  }

  static std::string text(const ProgramPair& pair, bool of_model, bool rounds, double share) {
    const std::string what = rounds && share > 0
                                 ? fmt::format("results within {:.1g} of their largest element", share)
                                 : "same results";
    const int64_t devices = std::max(pair.before->devices(), pair.after->devices());
    return fmt::format("{}, executed on random inputs{}{}{}", what,
                       of_model ? " for a small model of the same structure" : "",
                       devices > 1 ? fmt::format(" on {} devices", devices) : "",
                       pair.scale > 1 ? fmt::format(" at sizes divided by up to {}", pair.scale) : "");
  }

  /// Both with all floats as f64: agreement there leaves rounding as the only difference.
  std::optional<Proof> without_rounding(ProgramPair& pair) {
    if (!pair.prepared.empty()) return std::nullopt;
    std::optional<Module> first = with_wide_floats(pair.before->module(), table_);
    std::optional<Module> second = with_wide_floats(pair.after->module(), table_);
    if (!first || !second) return std::nullopt;
    ProgramPair wide;
    wide.before = std::make_unique<ProvenProgram>(std::move(*first), pair.before->devices(), table_, pool_);
    wide.after = std::make_unique<ProvenProgram>(std::move(*second), pair.after->devices(), table_, pool_);
    wide.scale = pair.scale;
    if (!wide.before->run().prepare(kEasyBytes) || !wide.after->run().prepare(kEasyBytes))
      return std::nullopt;
    std::vector<Arrays> given;
    const auto devices = std::max(wide.before->devices(), wide.after->devices());
    for (int64_t device = 0; device < devices; ++device)
      given.push_back(*arguments(*wide.before, device, wide.before->devices() != wide.after->devices()));
    if (!expect_alike(wide, given[0])) return std::nullopt;
    Proof proof = judged(wide, given, given);
    if (proof.state == Proof::State::kProven) proof.text += ", in f64: rounding differs";
    return proof;
  }

  const Proposal& proposal_;
  const OpTable& table_;
  const Stop* stop_;
  MemoryPool pool_;
};

}  // namespace

std::string_view to_text(Proof::State state) {
  switch (state) {
    case Proof::State::kNotTried:
      return "not tried";
    case Proof::State::kProven:
      return "proven";
    case Proof::State::kNotNeeded:
      return "same program";
    case Proof::State::kNotPossible:
      return "not proven";
    case Proof::State::kRefuted:
      return "other results";
  }
  HLOSIM_CHECK(false, "state");
}

Proof prove(const TrialSetup& before, const TrialSetup& after, const Proposal& proposal, const OpTable& table,
            const Stop* stop) {
  switch (proposal.proof) {
    case ProofKind::kSameProgram:
      return {Proof::State::kNotNeeded, "the program computes the same by construction"};
    case ProofKind::kNone:
      return {Proof::State::kNotPossible, proposal.no_proof};
    case ProofKind::kSameResults:
    case ProofKind::kRounding:
      break;
  }
  return Prover(proposal, table, stop).run(before, after);
}

}  // namespace hlosim
