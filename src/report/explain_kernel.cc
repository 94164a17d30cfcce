#include "report/explain_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

#include "report/kernel_report.h"

namespace hlosim {

namespace {

constexpr size_t kMostClasses = 16;

/// How units and transfers of a step share its time.
std::string_view overlap_text(OverlapRule overlap) {
  switch (overlap) {
    case OverlapRule::kHidden:
      return "max(units, transfers)";
    case OverlapRule::kPorts:
    case OverlapRule::kBundles:
      return "(units^p + transfers^p)^(1/p)";
    case OverlapRule::kTurns:
      break;
  }
  return "units + transfers";
}

std::string_view transfers_text(Requests requests) {
  switch (requests) {
    case Requests::kAhead:
      return "bytes / rate";
    case Requests::kWhenFree:
      return "max(bytes / rate, (units + bytes / rate + latency) / 2)";
    case Requests::kAtOnce:
      break;
  }
  return "bytes / rate + latency";
}

/// Counts of one core of several may be fractions.
std::string count_text(double count) {
  return count < 9e15 && count == std::floor(count) ? grouped(static_cast<int64_t>(count))
                                                    : fmt::format("{:.6g}", count);
}

/// Alike steps added up, those that take most time first.
std::vector<KernelTerms::Step> merged(const std::vector<KernelTerms::Step>& steps) {
  std::vector<KernelTerms::Step> all = steps;
  const auto times = [](const KernelTerms::Step& step) { return std::tuple(step.units, step.transfers); };
  std::ranges::stable_sort(all, {}, times);
  size_t last = 0;
  for (size_t i = 1; i < all.size(); ++i)
    if (times(all[i]) == times(all[last]))
      all[last].count += all[i].count;
    else
      all[++last] = all[i];
  if (!all.empty()) all.resize(last + 1);
  std::ranges::stable_sort(all, std::greater(),
                           [](const KernelTerms::Step& step) { return step.count * step.together; });
  return all;
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
  const std::vector<KernelTerms::Step> steps = merged(terms.steps);
  for (size_t i = 0; i < std::min(steps.size(), kMostClasses); ++i) {
    const KernelTerms::Step& step = steps[i];
    const double of_class = kernel.requests == Requests::kAtOnce ? kernel.grid_steps : step.count;
    term.add(fmt::format("{} step{}", count_text(of_class), of_class == 1 ? "" : "s"), shown(step.together),
             fmt::format("{}units {}, transfers {}", of_class == step.count ? "each: " : "all: ",
                         shown(step.units), shown(step.transfers)));
  }
  double further = 0, further_time = 0;
  for (size_t i = kMostClasses; i < steps.size(); ++i)
    further += steps[i].count, further_time += steps[i].count * steps[i].together;
  if (further > 0) term.add(count_text(further) + " further steps", shown(further_time), "all of them");
  term.add("transfers", std::string(transfers_text(kernel.requests)), "of a step");
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
