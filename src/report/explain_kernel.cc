#include "report/explain_kernel.h"

#include <fmt/format.h>

#include "report/kernel_report.h"

namespace hlosim {

std::vector<ExplainedTerm> kernel_terms(const Device& device, const KernelCall& call,
                                        const InstructionCost& cost) {
  const KernelCost& kernel = call.cost;
  std::vector<ExplainedTerm> terms;
  for (const KernelPart& part : kernel_parts(device.config, kernel)) {
    const size_t name = part.name.find_first_not_of(' ');
    terms.push_back({part.name.substr(name), part.what, {}, part.time});
  }
  ExplainedTerm all{
      "time",
      "units together + blocks as a whole + steps + transfers not hidden + instruction, at least the "
      "longest unit",
      {},
      cost.time()};
  const std::string source = call.blocks_given ? "the call's kernel_metadata" : "the best that fit";
  const auto number = [&](std::string name, std::string value, std::string key, std::string from) {
    all.numbers.push_back({std::move(name), std::move(value), std::move(key), std::move(from)});
  };
  for (const auto& [name, size] : kernel.blocks) number(name, std::to_string(size), "", source);
  number("grid", fmt::format("{}", fmt::join(kernel.grid, " x ")), "", "shapes and blocks");
  number("blocks computed", fmt::format("{}, {} of them masked", kernel.computed, kernel.masked), "",
         "shapes, blocks and mask");
  number("blocks skipped", grouped(kernel.skipped), "", "shapes, blocks and mask");
  number("VMEM",
         fmt::format("{} of {}{}", to_text(kernel.vmem), to_text(kernel.vmem_limit),
                     kernel.fits() ? "" : ", does not fit"),
         "vmem.scoped_limit", "blocks");
  terms.push_back(std::move(all));
  return terms;
}

std::vector<ExplainedTerm> estimate_terms(const Device& device, const CostEstimate& estimate,
                                          const InstructionCost& cost) {
  constexpr const char* kEstimate = "the call's cost_estimate";
  std::vector<ExplainedTerm> terms;
  const auto add = [&](std::string name, std::string formula, Picoseconds time) -> ExplainedTerm& {
    return terms.emplace_back(ExplainedTerm{std::move(name), std::move(formula), {}, time});
  };
  ExplainedTerm& mxu = add("MXU", "FLOPs / (peak x share)", cost.busy[index_of(Unit::kMxu)]);
  mxu.numbers = {{"FLOPs", fmt::format("{:.4g}", estimate.flops), "", kEstimate},
                 {"peak", to_text(peak_flops(device.config, ElementType::kBF16)), "mxu", "bf16"},
                 {"share", fmt::format("{:g}", device.config.mxu.kernel_share), "mxu.kernel_share", ""}};
  ExplainedTerm& eup = add("EUP", "exponentials / register x cadence / (count x cores) / clock",
                           cost.busy[index_of(Unit::kEup)]);
  eup.numbers = {{"exponentials", fmt::format("{:.4g}", estimate.transcendentals), "", kEstimate}};
  for (size_t i = 0; i < device.config.memory.size(); ++i)
    if (&device.config.memory[i] == &device.config.hbm()) {
      ExplainedTerm& hbm = add("HBM", "bytes / rate", cost.busy[index_of(memory_unit(i))]);
      hbm.numbers = {
          {"bytes", to_text(cost.traffic[i].total()), "", "operands and results, or cost_estimate if more"}};
    }
  add("not hidden", "instruction + latencies, at least smallest fusion - longest unit", cost.fixed);
  add("time", "longest unit + not hidden", cost.time());
  return terms;
}

}  // namespace hlosim
