#include "estimate/prepared.h"

#include <fmt/format.h>

#include "lower/lower.h"
#include "model/native_layouts.h"

namespace hlosim {
namespace {

Result<Prepared> lowered_and_laid_out(const Module& module, const OpTable& table, const Device& device,
                                      const EstimateOptions& options) {
  Prepared prepared;
  if (options.lowering == Lowering::kPlain && is_plain(module)) {
    Lowered lowered = lower_as(module, table, device, options.simulate);
    if (Result<void> go_on = options.simulate.go_on(); !go_on)
      return tl::unexpected(std::move(go_on.error()));
    prepared.assumptions.add(fmt::format(
        "no TPU compiler has touched the module: it was fused and laid out as one for {} might do it{}",
        device.config.name, lowered.how == kLoweredByDefault ? "" : fmt::format(" ({})", lowered.how)));
    prepared.is_lowered = true;
    prepared.written = std::make_shared<const Module>(std::move(lowered.module));
  } else {
    prepared.written = std::make_shared<const Module>(module.copy());
  }
  prepared.module = prepared.written;
  if (carries_tiles(*prepared.written)) return prepared;
  LaidOut laid_out = lay_out(*prepared.written, device);
  prepared.assumptions.add_all(laid_out.assumptions);
  prepared.module = std::make_shared<const Module>(std::move(laid_out.module));
  return prepared;
}

}  // namespace

Result<Prepared> prepare(const Module& module, const OpTable& table, const Device& device,
                         const EstimateOptions& options) {
  if (!options.mesh) return lowered_and_laid_out(module, table, device, options);
  Result<Spread> spread = spread_out(module, table, device, options.simulate, *options.mesh);
  if (!spread) return tl::unexpected(std::move(spread.error()));
  if (Result<void> go_on = options.simulate.go_on(); !go_on) return tl::unexpected(std::move(go_on.error()));
  Result<Prepared> prepared = lowered_and_laid_out(spread->module, table, device, options);
  if (!prepared) return prepared;
  AssumptionList assumptions = std::move(spread->assumptions);
  assumptions.add_all(prepared->assumptions);
  prepared->assumptions = std::move(assumptions);
  prepared->is_lowered |= !spread->notes.was_partitioned;
  prepared->spread = std::make_shared<const SpreadNotes>(std::move(spread->notes));
  return prepared;
}

}  // namespace hlosim
