#include "mosaic/kernel_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/text.h"
#include "mosaic/body_walk.h"
#include "mosaic/operation_cost.h"

namespace hlosim::mosaic {
namespace {

using mlir::Attribute;
using mlir::AttributeKind;
using mlir::Operation;

/// Operations that all steps together may go through, and a grid that is gone through at all.
constexpr size_t kMostVisited = 4'000'000;
constexpr int64_t kMostSteps = int64_t{1} << 40;

using Functions = std::map<std::string_view, const Operation*>;

Functions functions_of(const Operation& top) {
  Functions found;
  for (const mlir::Region& region : top.regions)
    for (const mlir::Block* block : region.blocks)
      for (const Operation* op : block->operations)
        if (const Attribute* name = op->find("sym_name"); name && plain_name(*op) == "func.func")
          found.emplace(name->text, op);
  return found;
}

/// `main`, else the first function.
const Operation* main_of(const Operation& top, const Functions& functions) {
  if (const auto at = functions.find("main"); at != functions.end()) return at->second;
  for (const mlir::Region& region : top.regions)
    for (const mlir::Block* block : region.blocks)
      for (const Operation* op : block->operations)
        if (plain_name(*op) == "func.func") return op;
  return nullptr;
}

int64_t integer_of(const Operation& op, std::string_view name) {
  const Attribute* const found = op.find(name);
  return found && found->kind == AttributeKind::kInteger ? std::max<int64_t>(found->integer, 0) : 0;
}

/// A window with what moves it.
struct Moved {
  KernelWindow window;
  const Operation* transform = nullptr;
  std::vector<Scalar> before;  // block index of the step before
  bool has_before = false;
  double share = 1;  // of the steps, in which a result moves whose index isn't known
};

class Steps {
 public:
  Steps(const Operation& main, Functions functions, const KernelInputs& inputs)
      : main_(main), functions_(std::move(functions)), inputs_(inputs), walk_(functions_, inputs_) {}

  Result<KernelBody> run() {
    if (main_.regions.empty() || main_.regions[0].blocks.empty())
      return failure("the kernel's function has no body");
    if (auto problem = read_grid(); !problem.empty()) return failure(std::move(problem));
    if (auto problem = read_windows(); !problem.empty()) return failure(std::move(problem));
    add_scratch();
    go_through();
    for (Moved& moved : moved_) made_.windows.push_back(std::move(moved.window));
    made_.has_unknown_conditions = walk_.has_unknown_conditions();
    if (made_.has_unknown_conditions && inputs_.density >= 1)
      made_.assumptions.emplace_back("conditions on unknown data are assumed to be met");
    made_.assumptions.insert(made_.assumptions.end(), walk_.assumptions().begin(), walk_.assumptions().end());
    add_unknown_loops();
    for (const std::string_view name : unknown_)
      made_.assumptions.push_back(fmt::format("{} is assumed to be a simple vector operation", shown(name)));
    if (walk_.is_cut()) made_.assumptions.emplace_back("long loops are costed by their first iterations");
    return std::move(made_);
  }

 private:
  std::string read_grid() {
    if (const Attribute* bounds = main_.find("iteration_bounds"))
      made_.grid.assign(bounds->integers.begin(), bounds->integers.end());
    size_t dynamic = 0;
    for (int64_t& bound : made_.grid) {
      if (bound == mlir::kDynamic) bound = dynamic_bound(dynamic++);
      if (bound < 0) return fmt::format("the kernel's grid has a dimension of {}", bound);
      if (__builtin_mul_overflow(made_.steps, bound, &made_.steps) || made_.steps > kMostSteps)
        return "the kernel's grid has too many steps";
    }
    if (const Attribute* semantics = main_.find("dimension_semantics"))
      for (const Attribute* item : semantics->items) made_.semantics.emplace_back(item->text);
    return {};
  }

  /// As the call says; else as many steps as the longest list of scalars has entries.
  int64_t dynamic_bound(size_t number) {
    if (number < inputs_.dynamic_bounds.size() && inputs_.dynamic_bounds[number] >= 0)
      return inputs_.dynamic_bounds[number];
    int64_t longest = 1;
    const auto arguments = main_.regions[0].blocks[0]->arguments;
    const size_t first = made_.grid.size();
    const auto prefetched = static_cast<size_t>(integer_of(main_, "scalar_prefetch"));
    for (size_t i = first; i < std::min(first + prefetched, arguments.size()); ++i)
      if (arguments[i]->type->dims.size() == 1) longest = std::max(longest, arguments[i]->type->dims[0]);
    made_.assumptions.push_back(
        fmt::format("a data-dependent dimension of the grid is assumed to have {} steps", longest));
    return longest;
  }

  std::string read_windows() {
    const auto arguments = main_.regions[0].blocks[0]->arguments;
    const auto prefetched = static_cast<size_t>(integer_of(main_, "scalar_prefetch"));
    const auto scratch = static_cast<size_t>(integer_of(main_, "scratch_operands"));
    first_prefetched_ = made_.grid.size();
    first_window_ = first_prefetched_ + prefetched;
    if (first_window_ + scratch > arguments.size())
      return fmt::format(
          "the kernel takes {} arguments, but {} grid indices, {} scalars and {} scratch buffers",
          arguments.size(), made_.grid.size(), prefetched, scratch);
    first_scratch_ = arguments.size() - scratch;
    const Attribute* const parameters = main_.find("window_params");
    for (size_t i = first_window_; i < first_scratch_; ++i) {
      const size_t number = i - first_window_;
      const bool is_listed = parameters && number < parameters->items.size();
      moved_.push_back(window_of(*arguments[i], is_listed ? parameters->items[number] : nullptr));
    }
    mark_results(arguments);
    return {};
  }

  Moved window_of(const mlir::Value& argument, const Attribute* parameters) {
    Moved made;
    const mlir::Type& type = *argument.type;
    made.window.block.assign(type.dims.begin(), type.dims.end());
    if (type.element) made.window.element = type.element->word;
    made.window.bytes = dense_bytes(type);
    const std::string_view space = memory_space(type);
    const Attribute* const transform = parameters ? parameters->find("transform_indices") : nullptr;
    made.window.is_moved = transform && space != "any" && space != "hbm";
    if (!made.window.is_moved) {
      // Blocks of a kernel without a grid are there before it begins, unless it copies them itself.
      made.window.buffers = 1;
      made.window.is_moved = !parameters && made_.grid.empty() && space == "vmem";
    }
    if (transform)
      if (const auto at = functions_.find(transform->text); at != functions_.end())
        made.transform = at->second;
    const Attribute* const mode = parameters ? parameters->find("pipeline_mode") : nullptr;
    if ((mode && mode->text == "synchronous") || made_.steps <= 1) made.window.buffers = 1;
    if (space == "vmem")
      made_.vmem += static_cast<double>(made.window.buffers) * tiled_bytes(type, inputs_.registers);
    return made;
  }

  /// The last ones as many as there are results, else those that something is stored to.
  void mark_results(std::span<const mlir::Value* const> arguments) {
    if (inputs_.results >= 0) {
      const size_t count = std::min(static_cast<size_t>(inputs_.results), moved_.size());
      const size_t first = moved_.size() - count;
      for (size_t i = first; i < moved_.size(); ++i) {
        moved_[i].window.is_result = true;
        if (i - first >= inputs_.result_bytes.size() || moved_[i].window.bytes <= 0) continue;
        const double blocks = std::ceil(inputs_.result_bytes[i - first] / moved_[i].window.bytes);
        moved_[i].share =
            std::clamp(blocks / static_cast<double>(std::max<int64_t>(made_.steps, 1)), 0.0, 1.0);
      }
      return;
    }
    std::set<const mlir::Value*> stored;
    find_stores(main_, stored);
    for (size_t i = 0; i < moved_.size(); ++i)
      moved_[i].window.is_result = stored.count(arguments[first_window_ + i]) > 0;
  }

  static void find_stores(const Operation& op, std::set<const mlir::Value*>& stored) {
    const std::string_view name = plain_name(op);
    const bool stores = name.find("store") != std::string_view::npos;
    const bool copies = name == "tpu.enqueue_dma";
    size_t memrefs = 0;
    for (const mlir::Value* operand : op.operands) {
      if (operand->type->kind != mlir::TypeKind::kMemRef) continue;
      ++memrefs;
      if (stores || (copies && memrefs == 2)) stored.insert(operand);
    }
    for (const mlir::Region& region : op.regions)
      for (const mlir::Block* block : region.blocks)
        for (const Operation* inner : block->operations) find_stores(*inner, stored);
  }

  void add_scratch() {
    const auto arguments = main_.regions[0].blocks[0]->arguments;
    for (size_t i = first_scratch_; i < arguments.size(); ++i) {
      const mlir::Type& type = *arguments[i]->type;
      if (type.kind == mlir::TypeKind::kMemRef && memory_space(type) == "vmem")
        made_.vmem += tiled_bytes(type, inputs_.registers);
    }
  }

  // ── steps ──

  void go_through() {
    std::vector<int64_t> index(made_.grid.size(), 0);
    int64_t gone = 0;
    for (; gone < made_.steps; ++gone) {
      if (walk_.visited() > kMostVisited) break;
      std::vector<Scalar> arguments;
      for (const int64_t i : index) arguments.push_back(known(i));
      double written_before = 0;
      StepRun run;
      run.count = 1;
      run.in = move_windows(arguments, gone, written_before);
      if (!made_.runs.empty() && written_before > 0) add_written(written_before);
      run.work = work_of_step(arguments, is_turn(gone, inputs_.density));
      add_run(run);
      for (size_t d = index.size(); d-- > 0;) {
        if (++index[d] < made_.grid[d]) break;
        index[d] = 0;
      }
    }
    write_last();
    if (gone < made_.steps) scale_up(gone);
  }

  /// Bytes of the blocks that come for this step; `written` are those of results that go as their index
  /// changed.
  double move_windows(const std::vector<Scalar>& arguments, int64_t step, double& written) {
    std::vector<std::vector<Scalar>> blocks(moved_.size());
    of_results_.clear();
    results_turn_ = false;
    for (size_t i = 0; i < moved_.size(); ++i) {
      if (!moved_[i].window.is_moved || !moved_[i].transform) continue;
      blocks[i] = walk_.run(*moved_[i].transform, arguments, first_prefetched_);
      note_unknown(moved_[i], blocks[i], step);
    }
    double in = 0;
    for (size_t i = 0; i < moved_.size(); ++i) {
      Moved& moved = moved_[i];
      if (!moved.window.is_moved || (moved.has_before && stays(moved, blocks[i], step))) continue;
      if (moved.window.is_result) {
        if (moved.has_before) written += moved.window.bytes, ++moved.window.fetches;
      } else {
        in += moved.window.bytes;
        ++moved.window.fetches;
      }
      moved.before = std::move(blocks[i]);
      moved.has_before = true;
    }
    return in;
  }

  void note_unknown(Moved& moved, const std::vector<Scalar>& block, int64_t step) {
    for (const Scalar& scalar : block) {
      if (scalar.is_known) continue;
      moved.window.is_unknown = true;
      if (!moved.window.is_result) continue;
      of_results_.insert(scalar.unknown);
      results_turn_ |= is_turn(step - 1, moved.share);
    }
  }

  /// Data that a result goes by are the same as long as it stays.
  bool stays(const Moved& moved, const std::vector<Scalar>& block, int64_t step) const {
    if (moved.window.is_unknown && moved.window.is_result) return !is_turn(step - 1, moved.share);
    if (block.size() != moved.before.size()) return false;
    for (size_t i = 0; i < block.size(); ++i) {
      if (same(block[i], moved.before[i])) continue;
      const bool goes_with_results = !block[i].is_known && !moved.before[i].is_known && !results_turn_ &&
                                     of_results_.contains(block[i].unknown);
      if (!goes_with_results) return false;
    }
    return true;
  }

  void write_last() {
    double written = 0;
    for (Moved& moved : moved_)
      if (moved.window.is_result && moved.has_before) written += moved.window.bytes, ++moved.window.fetches;
    if (written > 0 && !made_.runs.empty()) add_written(written);
  }

  /// Whether the step is one of those that make up `share` of the steps. They are spread evenly.
  static bool is_turn(int64_t step, double share) {
    const auto met = [&](int64_t steps) { return std::floor(static_cast<double>(steps) * share); };
    return met(step + 1) > met(step);
  }

  uint32_t work_of_step(const std::vector<Scalar>& arguments, bool unknown_met) {
    walk_.begin_step(unknown_met, false);
    walk_.run(main_, arguments, first_prefetched_);
    const auto [at, is_new] =
        known_works_.try_emplace(walk_.path(), static_cast<uint32_t>(made_.works.size()));
    if (!is_new) return at->second;
    walk_.begin_step(unknown_met, true);
    walk_.run(main_, arguments, first_prefetched_);
    made_.works.push_back(summed(walk_.counts()));
    return at->second;
  }

  /// Where an operation is from: the innermost file, else the first name.
  static std::string place_of(const mlir::Location* location) {
    if (!location) return {};
    if (location->kind == mlir::LocationKind::kFile)
      return fmt::format("{}:{}", shown(location->text), location->line);
    for (const mlir::Location* inner : location->inner)
      if (std::string place = place_of(inner); !place.empty()) return place;
    return location->kind == mlir::LocationKind::kName ? std::string(shown(location->text)) : std::string();
  }

  void add_unknown_loops() {
    made_.missing_operands.assign(walk_.missing_operands().begin(), walk_.missing_operands().end());
    for (const UnknownLoop& loop : walk_.unknown_loops()) {
      KernelLoop& made = made_.unknown_loops.emplace_back();
      made.place = place_of(loop.op->location);
      if (made.place.empty())
        made.place = fmt::format("{} {}", plain_name(*loop.op), made_.unknown_loops.size());
      made.entries = loop.entries;
      auto counts = loop.counts;
      for (auto& [op, count] : counts) count /= std::max(loop.entries, 1e-300);
      made.iteration = summed(counts);
      made_.assumptions.push_back(fmt::format(
          "the loop at {} runs once: its trip count depends on data that isn't known", made.place));
    }
  }

  StepWork summed(const std::unordered_map<const Operation*, double>& counts) {
    StepWork work;
    for (const auto& [op, times] : counts) {
      const auto [at, is_new] = costs_.try_emplace(op);
      if (is_new) at->second = operation_cost(*op, inputs_.registers);
      const OperationCost& cost = at->second;
      if (!cost.is_known) unknown_.insert(plain_name(*op));
      if (cost.product) {
        KernelProduct product = *cost.product;
        product.times = times;
        work.products.push_back(std::move(product));
      }
      for (size_t i = 0; i < kVectorClasses; ++i) {
        work.vector[i].words += times * cost.vector[i].words;
        work.vector[i].halves += times * cost.vector[i].halves;
      }
      work.loaded += times * cost.loaded, work.stored += times * cost.stored;
      work.scalar += times * cost.scalar, work.copied += times * cost.copied, work.sent += times * cost.sent;
    }
    // In the order of their sizes: that in which they were met is not told.
    std::sort(work.products.begin(), work.products.end(), [](const KernelProduct& a, const KernelProduct& b) {
      return std::tuple(a.m, a.n, a.k, a.batch, a.times) < std::tuple(b.m, b.n, b.k, b.batch, b.times);
    });
    return work;
  }

  void add_run(const StepRun& run) {
    if (!made_.runs.empty()) {
      StepRun& last = made_.runs.back();
      if (last.work == run.work && last.in == run.in && last.out == run.out) {
        ++last.count;
        return;
      }
    }
    made_.runs.push_back(run);
  }

  /// What the step before leaves behind goes.
  void add_written(double bytes) {
    StepRun& last = made_.runs.back();
    if (last.count > 1) {
      StepRun one = last;
      --last.count;
      one.count = 1;
      one.out += bytes;
      // Steps that all write are one run.
      if (made_.runs.size() > 1 && last.count == 0) made_.runs.pop_back();
      made_.runs.push_back(one);
    } else {
      last.out += bytes;
      if (made_.runs.size() > 1) {
        StepRun& before = made_.runs[made_.runs.size() - 2];
        if (before.work == last.work && before.in == last.in && before.out == last.out) {
          ++before.count;
          made_.runs.pop_back();
        }
      }
    }
  }

  void scale_up(int64_t gone) {
    made_.assumptions.push_back(
        fmt::format("of {} steps the first {} were simulated; the others are assumed to take their average",
                    made_.steps, gone));
    const double times = static_cast<double>(made_.steps) / static_cast<double>(gone);
    for (StepRun& run : made_.runs)
      run.count = static_cast<int64_t>(static_cast<double>(run.count) * times + 0.5);
    for (Moved& moved : moved_)
      moved.window.fetches = static_cast<int64_t>(static_cast<double>(moved.window.fetches) * times + 0.5);
  }

  const Operation& main_;
  Functions functions_;
  const KernelInputs& inputs_;
  BodyWalk walk_;
  KernelBody made_;
  std::vector<Moved> moved_;
  size_t first_prefetched_ = 0, first_window_ = 0, first_scratch_ = 0;
  std::map<uint64_t, uint32_t> known_works_;
  std::map<const Operation*, OperationCost> costs_;
  std::set<std::string_view> unknown_;
  std::set<uint64_t> of_results_;  // data that results go by in this step
  bool results_turn_ = false;      // any of these results moves
};

}  // namespace

KernelSignature kernel_signature(const mlir::File& file) {
  KernelSignature made;
  const Operation* const main = main_of(*file.top, functions_of(*file.top));
  if (!main) return made;
  made.prefetched = static_cast<size_t>(integer_of(*main, "scalar_prefetch"));
  if (const Attribute* bounds = main->find("iteration_bounds"))
    made.dynamic_bounds =
        static_cast<size_t>(std::count(bounds->integers.begin(), bounds->integers.end(), mlir::kDynamic));
  return made;
}

Result<KernelBody> kernel_body(const mlir::File& file, const KernelInputs& inputs) {
  Functions functions = functions_of(*file.top);
  const Operation* const main = main_of(*file.top, functions);
  if (!main) return failure("the kernel's module has no function");
  Result<KernelBody> made = Steps(*main, std::move(functions), inputs).run();
  if (!made) return made;
  if (const Attribute* name = file.top->find("sym_name")) made->name = name->text;
  return made;
}

}  // namespace hlosim::mosaic
