#include "exec/cluster_rows.h"

#include <algorithm>
#include <cstring>

#include "cpu_kernels/softmax.h"
#include "exec/cluster_workers.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

constexpr int64_t kChunkBytes = 12 << 10;  // that a chunk touches: beside the next one's in the L1 cache
constexpr int64_t kLine = 64;              // bytes of a cache line
constexpr int64_t kRowGrain = 16 << 10;    // elements that are worth a thread

// What one thread needs.
struct RowWorker {
  RowWorker(const RowPass& pass, int64_t chunk) {
    for (const RowPass::Step& step : pass.steps) steps.emplace_back(step, chunk * (step.wide ? pass.row : 1));
    for (const RowPass::Value& value : pass.buffers)
      buffers.emplace_back(static_cast<size_t>(chunk * (value.wide ? pass.row : 1) * value.width));
  }
  struct StepState {
    StepState(const RowPass::Step& step, int64_t most) {
      if (!step.program) return;
      std::vector<int64_t> widths;
      for (const RowPass::Input& input : step.inputs) widths.push_back(input.load.width());
      for (const RowPass::Value& output : step.outputs) widths.push_back(output.width);
      blocks = BlockLengths(*step.program, widths, most);
      for (const RowPass::Input& input : step.inputs) block_rows.add(input.load);
      blocks.follow(block_rows);
      for (size_t i = 0; i < step.inputs.size(); ++i)
        loads.emplace_back(step.inputs[i].load, blocks.longest(), step.program->reads_first_only(i),
                           block_rows);
      runner = std::make_unique<ElementRunner>(*step.program, blocks.longest());
      in.resize(step.inputs.size());
      out.resize(step.outputs.size());
      starts.resize(step.inputs.size());
    }
    BlockRows block_rows;
    BlockLengths blocks;
    std::unique_ptr<ElementRunner> runner;
    std::vector<BlockLoad> loads;
    std::vector<const void*> in;
    std::vector<void*> out;
    std::vector<int64_t> starts;
  };
  std::vector<StepState> steps;
  std::vector<AlignedBytes> buffers;
};

class RowRunner {
 public:
  explicit RowRunner(RowPass pass) : pass_(std::move(pass)) {
    int64_t bytes = 0;  // of a row
    const auto add = [&](const RowPass::Value& value) {
      bytes += value.wide ? value.width * pass_.row : value.width;
    };
    for (const RowPass::Value& value : pass_.buffers) add(value);
    std::vector<bool> seen(pass_.reused.size(), false);
    for (const RowPass::Step& step : pass_.steps) {
      for (const RowPass::Input& input : step.inputs)
        if (input.from.place == RowPass::Place::kOperand) add(input.from);
      if (step.is_softmax && step.folded.place == RowPass::Place::kOperand) add(step.folded);
      for (const RowPass::Value& output : step.outputs) {
        if (output.place != RowPass::Place::kResult || seen[output.index]) continue;
        seen[output.index] = true;
        add(output);
      }
    }
    chunk_ = std::clamp<int64_t>(kChunkBytes / std::max<int64_t>(1, bytes), 1, pass_.rows);
    grain_ = chunk_ * std::max<int64_t>(1, kRowGrain / (chunk_ * pass_.row));
  }

  void run(Invocation& call) const {
    for (size_t k = 0; k < call.result_count(); ++k) {
      if (pass_.reused[k] >= 0)
        call.make_result_in(static_cast<size_t>(pass_.reused[k]), k);
      else
        call.make_result(k);
    }
    parallel_for(pass_.rows, grain_, [&](int64_t begin, int64_t end) {
      const auto worker = workers_.take([&] { return std::make_unique<RowWorker>(pass_, chunk_); });
      for (int64_t first = begin; first < end; first += chunk_) {
        const int64_t rows = std::min(chunk_, end - first);
        ask_for(call, *worker, first + rows, std::min(chunk_, end - first - rows));
        for (size_t s = 0; s < pass_.steps.size(); ++s) {
          if (pass_.steps[s].program)
            run_program(call, *worker, s, first, rows);
          else if (pass_.steps[s].is_softmax)
            run_softmax(call, *worker, pass_.steps[s], first, rows);
          else
            run_fold(call, *worker, pass_.steps[s], first, rows);
        }
      }
    });
  }

 private:
  // The chunk's part of a value.
  std::byte* at(Invocation& call, const RowWorker& worker, const RowPass::Value& value, int64_t first) const {
    const int64_t offset = first * (value.wide ? pass_.row : 1) * value.width;
    switch (value.place) {
      case RowPass::Place::kOperand:
        return call.operand(value.index).bytes() + offset;
      case RowPass::Place::kResult:
        return call.result(value.index).bytes() + offset;
      case RowPass::Place::kBuffer:
        break;
    }
    return worker.buffers[value.index].data();
  }

  // Memory has time to bring what is folded and what is written while the chunk before it is computed.
  void ask_for(Invocation& call, const RowWorker& worker, int64_t first, int64_t rows) const {
    const auto ask = [&](const RowPass::Value& value) {
      const int64_t bytes = rows * pass_.row * value.width;
      // Of long rows the processor fetches what comes next by itself.
      if (!value.wide || value.place == RowPass::Place::kBuffer || bytes > kChunkBytes) return;
      const std::byte* from = at(call, worker, value, first);
      for (int64_t i = 0; i < bytes; i += kLine) __builtin_prefetch(from + i, 1);
    };
    for (const RowPass::Step& step : pass_.steps) {
      if (!step.program) ask(step.folded);
      for (const RowPass::Value& output : step.outputs) ask(output);
    }
  }

  void run_program(Invocation& call, RowWorker& worker, size_t number, int64_t first, int64_t rows) const {
    const RowPass::Step& step = pass_.steps[number];
    RowWorker::StepState& state = worker.steps[number];
    const int64_t per_row = step.wide ? pass_.row : 1, count = rows * per_row;
    // Views of operands are seen as a whole, other values as the chunk's part of them.
    std::vector<int64_t>& starts = state.starts;
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      const RowPass::Value& from = step.inputs[i].from;
      const bool whole = from.place == RowPass::Place::kOperand;
      starts[i] = whole ? first * per_row : 0;
      state.loads[i].begin(whole ? call.operand(from.index).bytes() : at(call, worker, from, first));
    }
    for (int64_t done = 0; done < count;) {
      const int64_t n = std::min(state.blocks.at(first * per_row + done), count - done);
      for (size_t i = 0; i < state.in.size(); ++i) state.in[i] = state.loads[i].at(starts[i] + done, n);
      for (size_t k = 0; k < state.out.size(); ++k)
        state.out[k] = at(call, worker, step.outputs[k], first) + done * step.outputs[k].width;
      if (state.block_rows.several)
        state.runner->run_rows(state.in.data(), state.out.data(), n, state.block_rows.length);
      else
        state.runner->run(state.in.data(), state.out.data(), n);
      done += n;
    }
  }

  void run_fold(Invocation& call, RowWorker& worker, const RowPass::Step& step, int64_t first,
                int64_t rows) const {
    step.fold.rows(at(call, worker, step.folded, first), pass_.row, rows, call.operand(step.init).bytes(),
                   at(call, worker, step.outputs[0], first));
  }

  void run_softmax(Invocation& call, const RowWorker& worker, const RowPass::Step& step, int64_t first,
                   int64_t rows) const {
    softmax(reinterpret_cast<const float*>(at(call, worker, step.folded, first)), pass_.row, rows,
            *call.operand(step.init).as<float>(), *call.operand(step.sum_init).as<float>(),
            reinterpret_cast<float*>(at(call, worker, step.outputs[0], first)));
  }

  RowPass pass_;
  int64_t chunk_ = 1, grain_ = 1;  // rows
  mutable WorkerPool<RowWorker> workers_;
};

}  // namespace

Evaluation row_pass_evaluation(RowPass pass) {
  return
      [runner = std::make_shared<const RowRunner>(std::move(pass))](Invocation& call) { runner->run(call); };
}

}  // namespace hlosim
