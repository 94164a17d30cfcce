// Goes through the schedule of an analysed module, one instruction at a time, on the bytes of a ValueStore.
//
//   Interpreter interpreter(module, table, analysis, device, options);
//   const Result<PhysicalResult> result = interpreter.run(std::move(inputs));
//   if (result && result->fault) …            // read before it was written, overwritten, …
#pragma once

#include <unordered_map>
#include <vector>

#include "exec/instruction_programs.h"
#include "physical/value_store.h"

namespace hlosim {

class Interpreter {
 public:
  /// Requires: all of them outlive the object.
  Interpreter(Module& module, const OpTable& table, const BufferAnalysis& analysis, DeviceState& device,
              const PhysicalOptions& options);

  Result<PhysicalResult> run(std::vector<Array> inputs);

 private:
  bool stopped() const { return store_.failed() || error_.has_value(); }
  void stop(const Diagnostic& error) {
    if (!error_) error_ = error;
  }

  void load(std::vector<Array> inputs);
  std::vector<Array> take_results();
  void run(ComputationId id);
  void find_needed();
  void execute(InstructionId id);
  void perform(InstructionId id);
  bool operands_are_there(InstructionId id);

  void run_loop(InstructionId id);
  void run_conditional(InstructionId id);
  void run_call(InstructionId id);
  void run_async(InstructionId id);
  void pass(Place from, Place to);
  int64_t integer_at_place(InstructionId id);
  void free_skipped(ComputationId id);

  void compute(InstructionId id);
  void finish_async(InstructionId id);
  void forward_parts(InstructionId id);
  Place source_of(InstructionId id, int32_t part) const;
  int32_t begin(InstructionId start);
  void hold_operands(InstructionId id, int32_t transfer);
  std::vector<Place> operand_leaves(InstructionId id) const;
  std::vector<Array> evaluate(InstructionId id, std::vector<Array> operands, int32_t& failure);
  const Callable* program(InstructionId id, int32_t& failure);
  int32_t add_failure(const Diagnostic& why);
  template <class F>
  void for_each_leaf_place(InstructionId id, F&& f) const {
    const Place first = top(id);
    for (Place place = first; place < analysis_.places.end(first); ++place)
      if (!analysis_.places.shape(place)->is_tuple()) f(place);
  }
  template <class F>
  void for_each_value_inside(ComputationId id, F&& f) const;

  Dataflow facts(InstructionId id) const { return dataflow(module_[id].opcode); }
  Place top(InstructionId id) const { return analysis_.places.first(id); }
  bool makes(Place place) const {
    const ValueIndex value = analysis_.values.at(place);
    return value != kNoValue && analysis_.values[value].defined == place && !analysis_.values[value].is_phi;
  }

  const Module& module_;
  const OpTable& table_;
  const BufferAnalysis& analysis_;
  DeviceState& device_;
  ValueStore store_;
  InstructionPrograms programs_;
  std::unordered_map<InstructionId, std::shared_ptr<const Callable>> made_;
  std::vector<int32_t> step_of_;  // by instruction
  IdMap<ComputationId, std::vector<InstructionId>> order_;
  IdMap<InstructionId, uint8_t> is_needed_;
  bool idle_ = false;                          // what runs now isn't needed
  IdMap<InstructionId, uint32_t> activation_;  // in which run of its computation it ran last
  IdMap<ComputationId, uint32_t> activations_;
  std::unordered_map<InstructionId, int32_t> begun_;  // transfers, by what began them last
  std::vector<Diagnostic> failures_;
  std::unordered_map<InstructionId, int32_t> failure_of_;
  std::optional<Diagnostic> error_;
  int64_t steps_ = 0;
};

}  // namespace hlosim
