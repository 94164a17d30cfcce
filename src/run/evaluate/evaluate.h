// Running instructions: what the function of an EvaluationKind is given when a program is made, and what the
// function that it returns is given each time the instruction runs.
//
// Values of any shape are handed on as their leaves in order, each an Array; tuples have no values of
// their own. Operand leaves are counted through all operands.
//
//   Evaluation evaluate_reverse(EvaluateContext& op) {
//     const std::vector<int64_t> dimensions = …op.ints(AttrKey::kDimensions)…;   // once
//     return [dimensions](Invocation& call) {                                    // each time
//       const Array& in = call.operand(0);
//       Array& out = call.make_result();
//       …
//     };
//   }
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/array.h"
#include "base/check.h"
#include "evaluate/device_state.h"
#include "hlo/op_def.h"

namespace hlosim {

class ElementProgram;  // elementwise/element_program.h
class LockstepRun;     // evaluate/devices/joint.h
class CollectiveCall;  // evaluate/devices/joint.h: an instruction that several devices run together
struct DeviceGrid;     // ops/collective_groups.h

/// One run of one instruction.
class Invocation {
 public:
  Invocation(DeviceState& device, const Module& module, const Instruction& instruction,
             std::span<Array> frame, std::span<const uint32_t> operands, std::span<const uint32_t> results,
             const bool* last_uses)
      : device_(device),
        module_(module),
        instruction_(instruction),
        frame_(frame),
        operands_(operands),
        results_(results),
        last_uses_(last_uses) {}

  DeviceState& device() const { return device_; }
  const Instruction& instruction() const { return instruction_; }
  /// Somebody wishes that the run ends: it has failed here.
  bool stops() const { return device_.stops_at(module_, instruction_); }
  size_t operand_count() const { return operands_.size(); }
  size_t result_count() const { return results_.size(); }

  /// Operand leaf `i`.
  const Array& operand(size_t i) const { return frame_[operands_[i]]; }
  template <class T>
  const T* in(size_t i) const {
    return operand(i).as<T>();
  }
  /// Operand leaf `i` to keep: moved out when nothing else needs it, so that it may be overwritten if
  /// its buffer is unique(). Each leaf once, after the last look at operand(i).
  Array take(size_t i) {
    Array& array = frame_[operands_[i]];
    return last_uses_[i] ? std::move(array) : array;
  }

  /// Result leaf `i`, to be assigned to. Its shape has been set.
  Array& result(size_t i = 0) { return frame_[results_[i]]; }
  /// Result leaf `i` with uninitialised elements.
  Array& make_result(size_t i = 0) {
    Array& array = result(i);
    array.data = device_.pool().allocate(data_bytes(array.shape));
    return array;
  }
  template <class T>
  T* out(size_t i = 0) {
    return make_result(i).template as<T>();
  }
  /// As make_result(i), in the bytes of operand leaf `operand` when they aren't needed any more and are
  /// enough; operand(operand) then still shows the old elements until they are overwritten.
  Array& make_result_in(size_t operand, size_t i = 0) {
    const Array& source = frame_[operands_[operand]];
    Array& array = result(i);
    if (last_uses_[operand] && source.data.unique() && source.data.capacity() >= data_bytes(array.shape) &&
        data_bytes(source.shape) == data_bytes(array.shape))
      array.data = source.data;
    else
      array.data = device_.pool().allocate(data_bytes(array.shape));
    return array;
  }
  /// Leaf `i` of the result is `array`, whatever layout its shape names.
  void set_result(Array array, size_t i = 0) {
    Array& target = result(i);
    target.data = std::move(array.data);
    target.sizes = std::move(array.sizes);
  }

  /// Ends the run with an error at this instruction.
  void fail(std::string message) { device_.fail(module_, instruction_, std::move(message)); }
  /// With the hint of an error that has no place of its own.
  void fail(const Diagnostic& error);

 private:
  DeviceState& device_;
  const Module& module_;
  const Instruction& instruction_;
  std::span<Array> frame_;
  std::span<const uint32_t> operands_, results_;
  const bool* last_uses_;
};

using Evaluation = std::function<void(Invocation&)>;
/// Of an instruction at which devices meet.
using JointEvaluation = std::function<void(CollectiveCall&)>;

/// One device's part in a call by several.
struct DeviceCall {
  DeviceState* device;
  std::span<Array> arguments, results;
};

/// A computation ready to be run.
class Callable {
 public:
  virtual ~Callable() = default;
  /// `arguments`: one per leaf of the parameters in order; moved from, so that what isn't held elsewhere may
  /// be overwritten. `results`: one per leaf of the root, assigned. When the device fails, results are left
  /// empty.
  virtual void call(DeviceState& device, std::span<Array> arguments, std::span<Array> results) const = 0;
  /// The same on several devices of a run, which go through it together.
  virtual void call_jointly(LockstepRun& run, std::span<const DeviceCall> calls) const = 0;
  /// Devices meet in it, so that it can't be run by one of them alone.
  virtual bool is_joint() const = 0;
  virtual size_t argument_count() const = 0;
  virtual size_t result_count() const = 0;
};

/// What a custom call is given.
struct CustomCallArguments {
  const OpContext& op;              // attributes, shapes
  std::span<const Array> operands;  // leaves
  std::span<Array> results;         // leaves, shapes set, uninitialised elements allocated
  DeviceState& device;
};

class EvaluateContext;

/// What runs custom calls, asked before what their targets are known to do. What was added last comes first.
class CustomCallHandlers {
 public:
  /// Returns what is wrong, or nothing.
  using Handler = std::function<Result<void>(const CustomCallArguments&)>;
  void add(std::string target, Handler handler);

  struct Rule {
    std::function<bool(const Instruction&)> fits;
    std::function<Evaluation(EvaluateContext&)> evaluate;  // null after a report
  };
  void add(Rule rule) { rules_.push_back(std::move(rule)); }
  const Rule* find(const Instruction& custom_call) const;

 private:
  std::vector<Rule> rules_;
};

/// What the maker of a program provides to the opcodes.
class ProgramServices {
 public:
  virtual ~ProgramServices() = default;
  /// The computation as something to call; made on first request, shared by all who ask.
  virtual std::shared_ptr<const Callable> callable(ComputationId computation) = 0;
  /// The computation as arithmetic on elements; null where it does more than that.
  virtual std::shared_ptr<const ElementProgram> element_program(ComputationId computation) = 0;
  virtual const CustomCallHandlers& custom_calls() const = 0;
  /// Members of collectives that don't run are taken to hold what the one that runs holds; else they are
  /// errors.
  virtual bool has_twins() const = 0;
  /// All devices of the program; null: it runs on one.
  virtual const DeviceGrid* grid() const = 0;
};

/// An instruction for which something that runs it is to be made.
class EvaluateContext : public OpContext {
 public:
  EvaluateContext(Module& module, const Instruction& instruction, const OpTable& table, DiagnosticList* sink,
                  ProgramServices& services)
      : OpContext(module, instruction, table, sink), services_(services) {}

  /// Index of the first leaf of operand `i`, counted through all operands.
  size_t first_leaf(int64_t i) const;
  /// Leaves of all operands.
  size_t operand_leaves() const { return first_leaf(operand_count()); }

  std::shared_ptr<const Callable> callable(ComputationId computation) const {
    return services_.callable(computation);
  }
  std::shared_ptr<const ElementProgram> element_program(ComputationId computation) const {
    return services_.element_program(computation);
  }
  const CustomCallHandlers& custom_calls() const { return services_.custom_calls(); }
  bool has_twins() const { return services_.has_twins(); }
  const DeviceGrid* grid() const { return services_.grid(); }

  /// Reports that these element types are not supported and returns null: `return op.unsupported();`
  std::nullptr_t unsupported();
  std::nullptr_t unsupported(std::string_view what);

 private:
  ProgramServices& services_;
};

/// The evaluation of `op` by its opcode's `element`, `view` or `evaluation`, whichever there is; null after a
/// report. `forward` is done by the maker of the program.
Evaluation make_evaluation(EvaluateContext& op);
/// Where a program is made for several devices, the evaluation of an instruction at which they meet. Null
/// without a report: it concerns each device alone.
JointEvaluation make_joint_evaluation(EvaluateContext& op);

/// There is a way to run the opcode, if not on all types. Parameters and constants are values already.
bool can_be_run(const OpDef& def);

}  // namespace hlosim
