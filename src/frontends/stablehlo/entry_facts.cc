#include "stablehlo/entry_facts.h"

namespace hlosim::stablehlo {
namespace {

const mlir::ExportedSharding* given(const mlir::ExportedSharding& sharding) {
  return sharding.is_given() ? &sharding : nullptr;
}

}  // namespace

EntryFacts::EntryFacts(const mlir::Exported& exported, size_t arguments, size_t results) {
  const size_t inputs = exported.kept_inputs.size(), outputs = exported.outputs.size();
  if (arguments < inputs || results < outputs) return;
  exported_ = &exported;
  arguments_before_ = arguments - inputs;
  results_before_ = results - outputs;
}

const mlir::ExportedValue* EntryFacts::input(size_t argument) const {
  if (!exported_ || argument < arguments_before_) return nullptr;
  const size_t kept = argument - arguments_before_;
  if (kept >= exported_->kept_inputs.size()) return nullptr;
  const auto number = static_cast<size_t>(exported_->kept_inputs[kept]);
  return number < exported_->inputs.size() ? &exported_->inputs[number] : nullptr;
}

const mlir::ExportedSharding* EntryFacts::argument_sharding(size_t argument) const {
  const mlir::ExportedValue* value = input(argument);
  return value ? given(value->sharding) : nullptr;
}

const mlir::ExportedSharding* EntryFacts::result_sharding(size_t result) const {
  if (!exported_ || result < results_before_) return nullptr;
  const size_t output = result - results_before_;
  return output < exported_->outputs.size() ? given(exported_->outputs[output].sharding) : nullptr;
}

std::string_view EntryFacts::size_text(size_t argument, size_t dimension) const {
  const mlir::ExportedValue* value = input(argument);
  return value && dimension < value->sizes.size() ? std::string_view(value->sizes[dimension])
                                                  : std::string_view();
}

}  // namespace hlosim::stablehlo
