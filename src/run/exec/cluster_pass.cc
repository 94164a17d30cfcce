#include "exec/cluster_pass.h"

#include <algorithm>

#include "exec/cluster_workers.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

constexpr int64_t kGrain = 16 << 10;  // elements: 10 µs and more of few cheap operations

// What one thread needs.
struct PassWorker {
  PassWorker(const ElementPass& pass, int64_t block, BlockRows rows)
      : runner(*pass.program, block), in(pass.inputs.size()), out(pass.widths.size()) {
    for (size_t i = 0; i < pass.inputs.size(); ++i)
      loads.emplace_back(pass.inputs[i].load, block, pass.program->reads_first_only(i), rows);
  }
  ElementRunner runner;
  std::vector<BlockLoad> loads;
  std::vector<const void*> in;
  std::vector<void*> out;
};

class PassRunner {
 public:
  explicit PassRunner(ElementPass pass) : pass_(std::move(pass)) {
    std::vector<int64_t> widths = pass_.widths;
    for (const ElementPass::Input& input : pass_.inputs) {
      widths.push_back(input.load.width());
      dense_ = dense_ && input.load.is_dense();
    }
    blocks_ = BlockLengths(*pass_.program, widths, pass_.count);
    for (const ElementPass::Input& input : pass_.inputs) rows_.add(input.load);
    blocks_.follow(rows_);
    while (grain_ > 2048 && grain_ * static_cast<int64_t>(pass_.program->step_count()) > 8 * kGrain)
      grain_ /= 2;
  }

  void run(Invocation& call) const {
    for (size_t k = 0; k < pass_.widths.size(); ++k) {
      if (pass_.reused[k] >= 0)
        call.make_result_in(static_cast<size_t>(pass_.reused[k]), k);
      else
        call.make_result(k);
    }
    parallel_for(pass_.count, grain_, [&](int64_t begin, int64_t end) {
      const auto worker =
          workers_.take([&] { return std::make_unique<PassWorker>(pass_, blocks_.longest(), rows_); });
      run_range(call, *worker, begin, end);
    });
  }

 private:
  void run_range(Invocation& call, PassWorker& worker, int64_t begin, int64_t end) const {
    for (size_t i = 0; i < pass_.inputs.size(); ++i)
      worker.loads[i].begin(call.operand(pass_.inputs[i].operand).bytes());
    for (int64_t at = begin; at < end;) {
      const int64_t n = dense_ ? end - at : std::min(blocks_.at(at), end - at);
      for (size_t i = 0; i < worker.in.size(); ++i) worker.in[i] = worker.loads[i].at(at, n);
      for (size_t k = 0; k < worker.out.size(); ++k)
        worker.out[k] = call.result(k).bytes() + at * pass_.widths[k];
      if (rows_.several)
        worker.runner.run_rows(worker.in.data(), worker.out.data(), n, rows_.length);
      else
        worker.runner.run(worker.in.data(), worker.out.data(), n);
      at += n;
    }
  }

  ElementPass pass_;
  bool dense_ = true;  // every input lies as it is read
  BlockRows rows_;
  BlockLengths blocks_;
  int64_t grain_ = kGrain;
  mutable WorkerPool<PassWorker> workers_;
};

}  // namespace

Evaluation pass_evaluation(ElementPass pass) {
  return
      [runner = std::make_shared<const PassRunner>(std::move(pass))](Invocation& call) { runner->run(call); };
}

}  // namespace hlosim
