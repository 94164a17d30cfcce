#include "evaluate/called_computation.h"

#include <algorithm>
#include <cstring>

#include "cpu_kernels/element.h"

namespace hlosim {
namespace {

size_t width_of(ElementType type) { return static_cast<size_t>(byte_width(type)); }

// The conversion from `from` to `to`, without fn where they are the same; false where there is none.
bool find_conversion(ElementType from, ElementType to, std::vector<ElementKernel>& conversions) {
  conversions.push_back(from == to ? ElementKernel{} : element_kernel(ElementOp::kConvert, from, to));
  return from == to || conversions.back();
}

}  // namespace

bool AppliedComputation::make(EvaluateContext& op, ComputationId computation,
                              std::span<const ElementType> given, std::span<const ElementType> wanted) {
  const Module& module = op.module();
  bool scalars = true;
  for (const InstructionId parameter : module[computation].parameters)
    for_each_leaf(module[parameter].shape, [&](ShapeRef leaf) { parameters_.push_back(leaf); });
  const Instruction& root = module.root(computation);
  for_each_leaf(root.shape, [&](ShapeRef leaf) { results_.push_back(leaf); });
  for (const ShapeRef leaf : parameters_) scalars &= leaf->is_scalar();
  for (const ShapeRef leaf : results_) scalars &= leaf->is_scalar();
  if (!scalars || given.size() != parameters_.size() || wanted.size() != results_.size()) {
    op.unsupported(
        fmt::format("computation {} takes or returns other than scalars", module[computation].name));
    return false;
  }
  given_.assign(given.begin(), given.end());
  wanted_.assign(wanted.begin(), wanted.end());
  bool converts = true;
  for (size_t i = 0; i < given.size(); ++i)
    converts &= find_conversion(given[i], parameters_[i]->element_type, in_conversions_);
  for (size_t i = 0; i < wanted.size(); ++i)
    converts &= find_conversion(results_[i]->element_type, wanted[i], out_conversions_);
  if (!converts) {
    op.unsupported();
    return false;
  }
  const auto is_set = [](const ElementKernel& kernel) { return static_cast<bool>(kernel); };
  direct_ = std::none_of(in_conversions_.begin(), in_conversions_.end(), is_set) &&
            std::none_of(out_conversions_.begin(), out_conversions_.end(), is_set);
  if (results_.size() == 1) returned_ = root.parameter_number;
  program_ = op.element_program(computation);
  if (!program_) callable_ = op.callable(computation);
  return true;
}

Applier::Applier(const AppliedComputation& applied, DeviceState& device, int64_t block)
    : applied_(applied),
      device_(device),
      block_(block),
      // Of several results one may lie where the argument of another lies.
      direct_(applied.direct_ && applied.wanted_.size() == 1) {
  if (applied.program_) runner_ = std::make_unique<ElementRunner>(*applied.program_, block);
  size_t bytes = 64;
  for (const ShapeRef leaf : applied.parameters_)
    bytes += width_of(leaf->element_type) * static_cast<size_t>(block) + 64;
  for (const ShapeRef leaf : applied.results_)
    bytes += width_of(leaf->element_type) * static_cast<size_t>(block) + 64;
  storage_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
  std::byte* next = storage_.get();
  const auto reserve = [&](ShapeRef leaf) {
    next += (64 - reinterpret_cast<uintptr_t>(next) % 64) % 64;
    std::byte* const at = next;
    next += width_of(leaf->element_type) * static_cast<size_t>(block);
    return at;
  };
  for (const ShapeRef leaf : applied.parameters_) converted_.push_back(reserve(leaf));
  for (const ShapeRef leaf : applied.results_) results_.push_back(reserve(leaf));
  in_.resize(converted_.size());
  out_.resize(results_.size());
}

void Applier::run(const void* const* in, void* const* out, int64_t n) {
  if (runner_ && direct_) return runner_->run(in, out, n);
  for (int64_t offset = 0; offset < n; offset += block_) {
    const int64_t count = std::min(block_, n - offset);
    for (size_t i = 0; i < in_.size(); ++i) {
      in_[i] = static_cast<const std::byte*>(in[i]) + offset * byte_width(applied_.given_[i]);
      const ElementKernel& conversion = applied_.in_conversions_[i];
      if (!conversion) continue;
      conversion.fn(converted_[i], &in_[i], conversion.immediate, count);
      in_[i] = converted_[i];
    }
    for (size_t k = 0; k < out_.size(); ++k)
      out_[k] =
          direct_ ? static_cast<std::byte*>(out[k]) + offset * byte_width(applied_.wanted_[k]) : results_[k];
    if (runner_)
      runner_->run(in_.data(), out_.data(), count);
    else
      call(in_.data(), out_.data(), count);
    if (direct_) continue;
    for (size_t k = 0; k < out_.size(); ++k) {
      const ElementType type = applied_.wanted_[k];
      std::byte* const to = static_cast<std::byte*>(out[k]) + offset * byte_width(type);
      const ElementKernel& conversion = applied_.out_conversions_[k];
      const void* from[] = {results_[k]};
      if (conversion)
        conversion.fn(to, from, conversion.immediate, count);
      else
        std::memcpy(to, results_[k], static_cast<size_t>(count) * width_of(type));
    }
  }
}

void Applier::call(const void* const* in, void* const* out, int64_t n) {
  std::vector<Array> arguments(applied_.parameters_.size()), results(applied_.results_.size());
  for (int64_t e = 0; e < n; ++e) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      const size_t width = width_of(applied_.parameters_[i]->element_type);
      arguments[i] = make_array(device_.pool(), applied_.parameters_[i]);
      std::memcpy(arguments[i].bytes(), static_cast<const std::byte*>(in[i]) + static_cast<size_t>(e) * width,
                  width);
    }
    if (!device_.failed()) applied_.callable_->call(device_, arguments, results);
    for (size_t k = 0; k < results.size(); ++k) {
      const size_t width = width_of(applied_.results_[k]->element_type);
      std::byte* const to = static_cast<std::byte*>(out[k]) + static_cast<size_t>(e) * width;
      if (device_.failed())
        std::memset(to, 0, width);
      else
        std::memcpy(to, results[k].bytes(), width);
    }
  }
}

}  // namespace hlosim
