// Computations from scalars to scalars that reduce, scatter, sort, map and the like apply to many elements.
//
//   AppliedComputation add;
//   if (!add.make(op, to_apply, types, types)) return nullptr;             // while the program is made
//   Applier(add, invocation.device()).run(inputs, outputs, count);         // on each run
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "elementwise/element_program.h"
#include "evaluate/evaluate.h"

namespace hlosim {

/// The computation, made ready once. `given` are the element types of the arguments that will be there, and
/// `wanted` those of the results; where the computation has others they are converted.
class AppliedComputation {
 public:
  /// False after a report: it takes or returns what isn't a scalar, or types that can't be converted.
  [[nodiscard]] bool make(EvaluateContext& op, ComputationId computation, std::span<const ElementType> given,
                          std::span<const ElementType> wanted);

  /// Null where it is more than arithmetic on elements.
  const ElementProgram* program() const { return program_.get(); }
  /// Several threads may apply it at once.
  bool is_parallel() const { return program_ != nullptr; }
  std::span<const ElementType> given() const { return given_; }
  std::span<const ElementType> wanted() const { return wanted_; }
  /// No argument and no result is converted.
  bool is_direct() const { return direct_; }
  /// The computation returns its parameter leaf `k` as its only result.
  bool returns_parameter(int64_t k) const { return returned_ == k; }

 private:
  friend class Applier;
  std::shared_ptr<const ElementProgram> program_;
  std::shared_ptr<const Callable> callable_;  // where there is no program
  std::vector<ShapeRef> parameters_, results_;
  std::vector<ElementType> given_, wanted_;
  std::vector<ElementKernel> in_conversions_, out_conversions_;  // without fn: none
  bool direct_ = true;
  int64_t returned_ = -1;
};

/// Room to apply it. One per thread and run of an instruction; cheap to use again, not free to make.
class Applier {
 public:
  Applier(const AppliedComputation& applied, DeviceState& device, int64_t block = ElementProgram::kBlock);

  /// Computes n elements of each result from n of each argument, dense. A result may lie exactly where an
  /// argument of the same width lies. After a failure of the device results are unspecified.
  void run(const void* const* in, void* const* out, int64_t n);

 private:
  void call(const void* const* in, void* const* out, int64_t n);

  const AppliedComputation& applied_;
  DeviceState& device_;
  int64_t block_;
  std::unique_ptr<ElementRunner> runner_;
  bool direct_;  // results are written where they are wanted at once
  std::unique_ptr<std::byte[]> storage_;
  std::vector<std::byte*> converted_, results_;  // blocks of arguments and results in the computation's types
  std::vector<const void*> in_;
  std::vector<void*> out_;
};

}  // namespace hlosim
