#include "exec/cluster_pass.h"

#include <algorithm>
#include <mutex>

#include "kernels/parallel.h"

namespace hlosim {
namespace {

constexpr int64_t kCacheBytes = 20 << 10;  // of the 32 KiB of L1; the rest is for what streams through
constexpr int64_t kGrain = 16 << 10;       // elements: 10 µs and more of few cheap operations

// Short enough that all registers stay in the L1 cache, long enough that calls cost little.
int64_t block_length(const ElementPass& pass) {
  if (pass.count < ElementProgram::kBlock) return pass.count;
  int64_t bytes = static_cast<int64_t>(pass.program->register_count()) * pass.program->widest();
  for (const ElementPass::Input& input : pass.inputs) bytes += input.load.width();
  for (const int64_t width : pass.widths) bytes += width;
  int64_t block = 1024;
  while (block > 128 && block * bytes > kCacheBytes) block /= 2;
  return block;
}

// What one thread needs.
struct Worker {
  Worker(const ElementPass& pass, int64_t block)
      : runner(*pass.program, block), in(pass.inputs.size()), out(pass.widths.size()) {
    for (const ElementPass::Input& input : pass.inputs) loads.emplace_back(input.load, block);
  }
  ElementRunner runner;
  std::vector<BlockLoad> loads;
  std::vector<const void*> in;
  std::vector<void*> out;
};

class PassRunner {
 public:
  explicit PassRunner(ElementPass pass) : pass_(std::move(pass)), block_(block_length(pass_)) {
    dense_ = std::all_of(pass_.inputs.begin(), pass_.inputs.end(),
                         [](const ElementPass::Input& input) { return input.load.is_dense(); });
    for (const ElementPass::Input& input : pass_.inputs)
      if (const int64_t row = input.load.row(); row > 0 && (row_ == 0 || row < row_)) row_ = row;
    // Rows in equal pieces, which begin where a cache line does if rows do.
    if (row_ > 0) {
      const int64_t pieces = (row_ + block_ - 1) / block_;
      piece_ = std::min(block_, ((row_ + pieces - 1) / pieces + 15) / 16 * 16);
    }
    grain_ = kGrain;
    while (grain_ > 2048 && grain_ * static_cast<int64_t>(pass_.program->step_count()) > 8 * kGrain) grain_ /= 2;
  }

  void run(Invocation& call) const {
    for (size_t k = 0; k < pass_.widths.size(); ++k) {
      if (pass_.reused[k] >= 0)
        call.make_result_in(static_cast<size_t>(pass_.reused[k]), k);
      else
        call.make_result(k);
    }
    parallel_for(pass_.count, grain_, [&](int64_t begin, int64_t end) {
      std::unique_ptr<Worker> worker = take_worker();
      run_range(call, *worker, begin, end);
      give_back(std::move(worker));
    });
  }

 private:
  void run_range(Invocation& call, Worker& worker, int64_t begin, int64_t end) const {
    for (size_t i = 0; i < pass_.inputs.size(); ++i)
      worker.loads[i].begin(call.operand(pass_.inputs[i].operand).bytes());
    for (int64_t at = begin; at < end;) {
      const int64_t n = dense_ ? end - at : std::min(piece(at), end - at);
      for (size_t i = 0; i < worker.in.size(); ++i) worker.in[i] = worker.loads[i].at(at, n);
      for (size_t k = 0; k < worker.out.size(); ++k)
        worker.out[k] = call.result(k).bytes() + at * pass_.widths[k];
      worker.runner.run(worker.in.data(), worker.out.data(), n);
      at += n;
    }
  }

  // Elements from `at` on that make a block.
  int64_t piece(int64_t at) const { return row_ > 0 ? std::min(piece_, row_ - at % row_) : block_; }

  std::unique_ptr<Worker> take_worker() const {
    {
      const std::lock_guard lock(mutex_);
      if (!workers_.empty()) {
        std::unique_ptr<Worker> worker = std::move(workers_.back());
        workers_.pop_back();
        return worker;
      }
    }
    return std::make_unique<Worker>(pass_, block_);
  }
  void give_back(std::unique_ptr<Worker> worker) const {
    const std::lock_guard lock(mutex_);
    workers_.push_back(std::move(worker));
  }

  ElementPass pass_;
  int64_t block_;
  bool dense_ = false;                 // every input lies as it is read
  int64_t row_ = 0, piece_ = 0, grain_ = kGrain;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Worker>> workers_;  // at rest
};

}  // namespace

Evaluation pass_evaluation(ElementPass pass) {
  return [runner = std::make_shared<const PassRunner>(std::move(pass))](Invocation& call) { runner->run(call); };
}

}  // namespace hlosim
