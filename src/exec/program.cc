#include "exec/program.h"

#include "base/saturating.h"
<<<<<<< HEAD
#include "exec/cluster.h"
#include "exec/plan.h"
#include "ops/element_program.h"
#include "ops/joint.h"

namespace hlosim {

// Makes the plans of a module's computations as they are asked for.
class Program::Maker final : public ProgramServices {
 public:
  Maker(Module& module, const OpTable& table, MemoryPool& pool, const ProgramOptions& options,
        DiagnosticList& sink)
      : module_(module), table_(table), pool_(pool), options_(options), sink_(sink) {}

  std::shared_ptr<const Plan> plan(ComputationId id) {
    const auto found = plans_.find(id);
    if (found != plans_.end()) {
      note_callee(*found->second);
      return found->second;
    }
    ComputationGraph graph = make_graph(module_, table_, id, pool_, options_.graph, sink_);
    if (options_.cluster && !options_.reference_only) make_clusters(graph, module_, table_, *this);
    const std::vector<int64_t> callee_bytes = make_evaluations(graph);
    auto made = std::make_shared<const Plan>(module_, std::move(graph), callee_bytes);
    plans_.emplace(id, made);
    constant_bytes_ = saturating_sum(constant_bytes_, made->constant_bytes());
    note_callee(*made);
    return made;
  }

  std::shared_ptr<const Callable> callable(ComputationId id) override { return plan(id); }

  std::shared_ptr<const ElementProgram> element_program(ComputationId id) override {
    if (options_.reference_only || shows_values(id)) return nullptr;
    const auto found = element_programs_.find(id);
    if (found != element_programs_.end()) return found->second;
    return element_programs_.emplace(id, hlosim::element_program(module_, table_, id)).first->second;
  }

  const CustomCallHandlers& custom_calls() const override {
    return options_.custom_calls ? *options_.custom_calls : no_handlers_;
  }
  bool reference_only() const override { return options_.reference_only; }
  bool has_twins() const override { return options_.twins; }
  const DeviceGrid* grid() const override { return options_.grid ? &*options_.grid : nullptr; }
  int64_t constant_bytes() const { return constant_bytes_; }

 private:
  // Bytes that the computations called by each node need beside their arguments.
  std::vector<int64_t> make_evaluations(ComputationGraph& graph) {
    std::vector<int64_t> callee_bytes;
    for (GraphNode& node : graph.nodes) {
      const int64_t outer = std::exchange(callee_bytes_, 0);
      if (!node.evaluation) make(node);
      callee_bytes.push_back(std::exchange(callee_bytes_, outer));
    }
    return callee_bytes;
  }

  // What cannot be run is an error now where it is sure to be reached, else when it is reached.
  void make(GraphNode& node) {
    DiagnosticList found;
    EvaluateContext op(module_, *node.instruction, table_, &found, *this);
    ++depth_;
    if (options_.grid && op.def().evaluate_jointly) node.joint = op.def().evaluate_jointly(op);
    if (!node.joint && !found.has_errors()) node.evaluation = make_evaluation(op);
    --depth_;
    if (!found.has_errors()) return;
    Diagnostic error = found.items().front();
    node.joint = nullptr;
    if (depth_ == 0)
      sink_.add(std::move(error));
    else
      node.evaluation = [error](Invocation& call) { call.device().fail(error); };
  }

  // Somebody wants to see a value of the computation or of one it calls.
  bool shows_values(ComputationId id) const {
    if (!options_.graph.traced) return false;
    const auto& instructions = module_[id].instructions;
    return std::any_of(instructions.begin(), instructions.end(), [&](InstructionId i) {
      bool shows = options_.graph.traced(module_[i]);
      for_each_called(module_[i], [&](ComputationId called) { shows = shows || shows_values(called); });
      return shows;
    });
  }

  void note_callee(const Plan& callee) {
    callee_bytes_ = std::max(callee_bytes_, callee.peak_bytes() - callee.argument_bytes());
  }

  Module& module_;
  const OpTable& table_;
  MemoryPool& pool_;
  const ProgramOptions& options_;
  DiagnosticList& sink_;
  CustomCallHandlers no_handlers_;
  std::unordered_map<ComputationId, std::shared_ptr<const Plan>> plans_;
  std::unordered_map<ComputationId, std::shared_ptr<const ElementProgram>> element_programs_;
  int depth_ = 0;              // of computations called by the entry
  int64_t callee_bytes_ = 0;   // of the node at work
  int64_t constant_bytes_ = 0;
};

=======
#include "exec/plan_maker.h"

namespace hlosim {

>>>>>>> b4dfad4 (Modules run on real bytes, each value where the buffer assignment puts it)
std::unique_ptr<const Program> Program::make(Module& module, const OpTable& table, MemoryPool& pool,
                                             const ProgramOptions& options, DiagnosticList& sink) {
  PlanMaker maker(module, table, pool, options, sink);
  const std::shared_ptr<const Plan> entry = maker.plan(module.entry);
  if (sink.has_errors()) return nullptr;
  std::unique_ptr<Program> program(new Program);
  program->entry_ = entry;
  program->parameter_bytes_ = entry->argument_bytes();
  program->constant_bytes_ = maker.constant_bytes();
  program->peak_bytes_ = saturating_sum(entry->peak_bytes(), maker.constant_bytes());
  for (const InstructionId parameter : module.entry_computation().parameters)
    for_each_leaf(module[parameter].shape, [&](ShapeRef leaf) { program->parameters_.push_back(leaf); });
  for_each_leaf(module.root(module.entry).shape, [&](ShapeRef leaf) { program->results_.push_back(leaf); });
  return program;
}

Program::~Program() = default;

Result<std::vector<Array>> Program::run(DeviceState& device, std::vector<Array> inputs) const {
  HLOSIM_CHECK(inputs.size() == parameters_.size(), "{} inputs, expected {}", inputs.size(), parameters_.size());
  std::vector<Array> outputs(results_.size());
  entry_->call(device, inputs, outputs);
  if (device.failed()) return tl::unexpected<Diagnostic>(*device.failure());
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i].shape = results_[i];
  return outputs;
}

Result<std::vector<std::vector<Array>>> Program::run_jointly(JointRun& run, std::span<DeviceState> devices,
                                                             std::vector<std::vector<Array>> inputs) const {
  HLOSIM_CHECK(inputs.size() == devices.size(), "{} inputs of {} devices", inputs.size(), devices.size());
  std::vector<std::vector<Array>> outputs(devices.size(), std::vector<Array>(results_.size()));
  std::vector<DeviceCall> calls;
  for (size_t i = 0; i < devices.size(); ++i) calls.push_back({&devices[i], inputs[i], outputs[i]});
  entry_->call_jointly(run, calls);
  if (run.failed()) return tl::unexpected<Diagnostic>(*run.failure());
  for (std::vector<Array>& leaves : outputs)
    for (size_t i = 0; i < leaves.size(); ++i) leaves[i].shape = results_[i];
  return outputs;
}

}  // namespace hlosim
