#include "report/explain_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/kernel_report.h"

namespace hlosim {

namespace {

constexpr size_t kMostClasses = 16;

/// How units and transfers of a step share its time.
std::string_view overlap_text(OverlapRule overlap) {
  constexpr std::string_view kTexts[] = {"max(units, transfers)", "(units^p + transfers^p)^(1/p)",
                                         "(units^p + transfers^p)^(1/p)", "units + transfers"};
  return kTexts[static_cast<size_t>(overlap)];
}

std::string count_text(double count) {
  return count < 9e15 ? grouped(static_cast<int64_t>(std::ceil(count))) : fmt::format("{:.6g}", count);
}

}  // namespace

ExplainedTerm kernel_term(const Device& device, const TimedKernel& planned, std::string name) {
  const Kernel& kernel = planned.kernel;
  KernelTerms terms;
  const KernelTime time = time_of(kernel, Core(device.config), terms);
  ExplainedTerm term{std::move(name),
                     fmt::format("first in + sum over the steps of {} + last out{}",
                                 overlap_text(kernel.transfers), kernel.waits > 0 ? " + latencies" : ""),
                     {},
                     ceil_picoseconds(time.time)};
  const auto shown = [](double picoseconds) { return to_text(ceil_picoseconds(picoseconds)); };
  term.add("steps", count_text(kernel.grid_steps),
           kernel.blocks.given ? "the module's window_config" : "of a core");
  term.add("first in", shown(time.first_in), "its bytes / rate + read latency");
  for (size_t i = 0; i < std::min(terms.steps.size(), kMostClasses); ++i) {
    const KernelTerms::Step& step = terms.steps[i];
    const double of_class = kernel.requests == Requests::kAtOnce ? kernel.grid_steps : step.count;
    term.add(fmt::format("{} step{}", count_text(of_class), of_class == 1 ? "" : "s"), shown(step.together),
             fmt::format("{}units {}, transfers {}", of_class == step.count ? "each: " : "all: ",
                         shown(step.units), shown(step.transfers)));
  }
  if (terms.steps.size() > kMostClasses)
    term.add("further kinds of steps", grouped(static_cast<int64_t>(terms.steps.size() - kMostClasses)), "");
  term.add("last out", shown(time.last_out), "its bytes / rate + write latency");
  if (kernel.waits > 0) term.add("latencies", shown(kernel.waits), "that nothing hides");
  if (kernel.transfers == OverlapRule::kPorts) term.add_key(device, "p", "dma.overlap");
  term.add_key(device, "read latency", "dma.read_latency");
  term.add_key(device, "write latency", "dma.write_latency");
  const auto bytes = [](double count) { return to_text(Bytes(static_cast<int64_t>(std::min(count, 4e18)))); };
  for (size_t i = 0; i < std::min(kernel.windows.size(), kMostClasses); ++i) {
    const VmemWindow& window = kernel.windows[i];
    term.add(window.is_result ? "window out" : "window in",
             fmt::format("{} x {}", bytes(window.bytes), count_text(window.fetches)),
             fmt::format("of one block, and how many are moved; {} buffer{}",
                         static_cast<int>(window.buffers), window.buffers == 1 ? "" : "s"));
  }
  if (const double vmem = kernel.vmem(); vmem > 0)
    term.add("VMEM", bytes(vmem), "windows x buffers, and scratch");
  term.add_key(device, "scoped limit", "vmem.scoped_limit");
  return term;
}

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
  for (const auto& [name, size] : kernel.blocks) all.add(name, std::to_string(size), source);
  all.add("grid", fmt::format("{}", fmt::join(kernel.grid, " x ")), "shapes and blocks");
  all.add("blocks computed", fmt::format("{}, {} of them masked", kernel.computed, kernel.masked),
          "shapes, blocks and mask");
  all.add("blocks skipped", grouped(kernel.skipped), "shapes, blocks and mask");
  all.numbers.push_back({"VMEM",
                         fmt::format("{} of {}{}", to_text(kernel.vmem), to_text(kernel.vmem_limit),
                                     kernel.fits() ? "" : ", does not fit"),
                         "vmem.scoped_limit", "blocks"});
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
