#include "report/explain_kernel_body.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/explain_kernel.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

constexpr std::string_view kBody = "the kernel's body";
/// Windows and kinds of steps that are shown one by one.
constexpr size_t kMostShown = 32;

Bytes bytes_of(double count) { return Bytes(static_cast<int64_t>(std::min(count, 4e18))); }

ExplainedTerm grid_of(const Device& device, const KernelOfCall& kernel) {
  const mosaic::KernelBody& body = kernel.body;
  ExplainedTerm term = kernel_term(device, kernel.cost.planned, "grid");
  term.add("bounds", fmt::format("[{}]", fmt::join(body.grid, ",")), kBody);
  if (!body.semantics.empty())
    term.add("semantics", fmt::format("{}", fmt::join(body.semantics, ", ")), kBody);
  if (kernel.cost.cores > 1) term.add("cores", grouped(kernel.cost.cores), "share a parallel dimension");
  term.add("VMEM allowed", to_text(kernel.cost.vmem_allowed), "the call's limit, or the device's");
  for (const std::string& assumed : body.assumptions) term.add("assumed", assumed, "");
  return term;
}

ExplainedTerm window_of(const mosaic::KernelWindow& window, size_t number) {
  ExplainedTerm term{fmt::format("window {}", number), "blocks x bytes", {}, {}};
  term.add("block", fmt::format("{}[{}]", window.element, fmt::join(window.block, ",")), kBody);
  if (!window.is_moved) {
    term.add("moved", "no: the body reads it where it lies, or copies it itself", kBody);
    return term;
  }
  term.add(window.is_result ? "written" : "fetched", fmt::format("{} times", grouped(window.fetches)),
           !window.is_unknown ? "its index map, step by step"
           : window.is_result ? "data decide where; each block of its array goes once"
                              : "its index depends on data that isn't known");
  term.amount = to_text(bytes_of(static_cast<double>(window.fetches) * window.bytes));
  term.add("bytes", to_text(bytes_of(window.bytes)), "of one block");
  term.add("buffers", grouped(window.buffers), kBody);
  return term;
}

ExplainedTerm step_of(const Device& device, const KernelOfCall& kernel, size_t number) {
  const mosaic::StepWork& work = kernel.body.works[number];
  const UnitWork& times = kernel.cost.planned.kernel.works[number];
  const double step_time = units_time(times, kernel.cost.planned.kernel.units, Core(device.config));
  int64_t count = 0;
  for (const mosaic::StepRun& run : kernel.body.runs)
    if (run.work == number) count += run.count;
  ExplainedTerm term{fmt::format("step {}", number),
                     "the longest of its units, and its beginning",
                     {},
                     ceil_picoseconds(step_time)};
  term.add("steps alike", grouped(count), kBody);
  for (const mosaic::KernelProduct& p : work.products)
    term.add("product", fmt::format("{:g} x {} x [{},{}]x[{},{}]", p.times, p.batch, p.m, p.k, p.k, p.n),
             fmt::format("{}, {}", p.lhs, p.rhs));
  const std::pair<std::string_view, double> units[] = {{"MXU", times.mxu},
                                                       {"VPU", times.vpu},
                                                       {"EUP", times.eup},
                                                       {"XLU", times.xlu},
                                                       {"scalar", times.scalar},
                                                       {"VMEM", times.ports},
                                                       {"copies of its own", times.copies},
                                                       {"beginning", times.begin}};
  for (const auto& [name, time] : units)
    if (time > 0) term.add(std::string(name), to_text(ceil_picoseconds(time)), "of one step");
  return term;
}

}  // namespace

std::vector<ExplainedTerm> terms_of_kernel(const Device& device, const KernelOfCall& kernel) {
  std::vector<ExplainedTerm> terms = {grid_of(device, kernel)};
  for (size_t i = 0; i < std::min(kernel.body.windows.size(), kMostShown); ++i)
    terms.push_back(window_of(kernel.body.windows[i], i));
  for (size_t i = 0; i < std::min(kernel.body.works.size(), kMostShown); ++i)
    terms.push_back(step_of(device, kernel, i));
  return terms;
}

}  // namespace hlosim
