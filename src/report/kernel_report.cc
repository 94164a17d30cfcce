#include "report/kernel_report.h"

#include <fmt/format.h>

#include "text/json.h"
#include "text/table.h"
#include "text/text_builder.h"

namespace hlosim {

std::string block_text(const KernelCost& cost) {
  std::string text;
  for (const auto& [name, size] : cost.blocks)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, size);
  return text;
}

namespace {

/// How the units of a step share its time.
std::string together_text(const DeviceConfig& device, const Kernel& kernel) {
  if (kernel.units == OverlapRule::kHidden) return "the longest of the units";
  if (kernel.units == OverlapRule::kTurns) return "MXU + vector, the longest of the others";
  const double p = device.kernel.overlap;
  return fmt::format(
      "{}, vector the longest of the others",
      p == 2 ? "sqrt(MXU^2 + vector^2)" : fmt::format("(MXU^{0:g} + vector^{0:g})^(1/{0:g})", p));
}

/// Transfers that the kernel starts itself, of one core.
Picoseconds copies_of(const Kernel& kernel) {
  double all = 0;
  for (const StepClass& step : kernel.steps)
    all += step.count * kernel.works[step.work].copies / kernel.works[step.work].steps;
  return ceil_picoseconds(all);
}

}  // namespace

std::vector<KernelPart> kernel_parts(const DeviceConfig& device, const KernelCost& cost) {
  std::vector<KernelPart> parts;
  const auto busy = [&](Unit unit, std::string_view name, std::string what) {
    if (cost.busy[index_of(unit)].count() > 0)
      parts.push_back({fmt::format("  {}", name), cost.busy[index_of(unit)], std::move(what)});
  };
  parts.push_back({"units together", cost.together, together_text(device, cost.planned.kernel)});
  busy(Unit::kMxu, "MXU",
       fmt::format("{:.4g} FLOP in blocks that are computed", static_cast<double>(cost.flops.count())));
  busy(Unit::kVpu, "VPU", fmt::format("{:.4g} slots", cost.slots.alu));
  busy(Unit::kEup, "EUP", fmt::format("{:.4g} pushes", cost.slots.eup));
  busy(Unit::kXlu, "XLU", fmt::format("{:.4g} operations along lanes", cost.slots.xlu));
  for (size_t i = 0; i < device.memory.size(); ++i)
    if (&device.memory[i] == &device.hbm())
      busy(memory_unit(i), "HBM",
           fmt::format("{} read, {} written, overlapped with all of this", to_text(cost.read),
                       to_text(cost.written)));
  if (const Picoseconds copies = copies_of(cost.planned.kernel); copies.count() > 0)
    parts.push_back({"  exchange", copies, "rows to and from other devices"});
  parts.push_back(
      {"blocks as a whole", cost.apart, "initialized, accumulated, finished: not overlapped with matmuls"});
  parts.push_back({"steps", cost.step_overhead,
                   fmt::format("{} of the grid, by {} {}", grouped(cost.steps), cost.cores,
                               cost.cores == 1 ? "core" : "cores")});
  parts.push_back({"transfers not hidden", cost.waits, "pipeline prologue and epilogue, stalls"});
  return parts;
}

std::string bound_of(const DeviceConfig& device, const KernelCost& cost) {
  std::pair<Picoseconds, std::string_view> longest{cost.waits, "transfers not hidden"};
  const auto consider = [&](Picoseconds time, std::string_view name) {
    if (time > longest.first) longest = {time, name};
  };
  consider(cost.step_overhead, "steps");
  consider(cost.apart, "blocks as a whole");
  consider(copies_of(cost.planned.kernel), "exchange");
  consider(cost.busy[index_of(Unit::kXlu)], "XLU");
  consider(cost.busy[index_of(Unit::kEup)], "EUP");
  consider(cost.busy[index_of(Unit::kVpu)], "VPU");
  for (size_t i = 0; i < device.memory.size(); ++i)
    if (&device.memory[i] == &device.hbm()) consider(cost.busy[index_of(memory_unit(i))], "HBM");
  consider(cost.busy[index_of(Unit::kMxu)], "MXU");
  return std::string(longest.second);
}

KernelReport kernel_report(const DeviceConfig& device, const KernelRequest& request, const KernelCost& cost) {
  KernelReport report;
  report.kernel = request.kernel;
  report.device = device.name;
  report.cost = cost;
  report.tuned = !has_blocks(request);
  if (report.tuned)
    report.origin = request.serving ? blocks_origin(*request.serving) : std::string_view("the best that fit");
  report.bound_by = bound_of(device, cost);
  report.parts = kernel_parts(device, cost);
  const double peak = peak_flops(device, ElementType::kBF16).count();
  if (peak > 0 && cost.kernel.count() > 0)
    report.share_of_peak =
        static_cast<double>(cost.flops.count()) / (static_cast<double>(cost.kernel.count()) / 1e12) / peak;
  return report;
}

std::string to_text(const KernelReport& report) {
  const KernelCost& cost = report.cost;
  std::string text;
  const TextBuilder print{text};
  print("{} on {}: {}\n", report.kernel, report.device, to_text(cost.time));
  print("  blocks      {}{}\n", block_text(cost), report.tuned ? fmt::format("  ({})", report.origin) : "");
  print("  grid        {}, {} steps\n", fmt::join(cost.grid, " x "), grouped(cost.steps));
  print("  computed    {} blocks, {} of them masked; {} skipped\n", grouped(cost.computed),
        grouped(cost.masked), grouped(cost.skipped));
  print("  VMEM        {} of {}{}\n", to_text(cost.vmem), to_text(cost.vmem_limit),
        cost.fits() ? "" : ": does not fit");
  print("  MXU         {:.1f} % of the peak\n", report.share_of_peak * 100);
  print("  bound by    {}\n", report.bound_by);
  Table table({{"part", Align::kLeft}, {"time", Align::kRight}, {"what", Align::kLeft}});
  for (const KernelPart& part : report.parts) table.add({part.name, to_text(part.time), part.what});
  table.add({"kernel", to_text(cost.kernel), ""});
  for (const KernelPass& pass : cost.passes)
    table.add({pass.name, to_text(pass.time),
               fmt::format("around it: {} read, {} written", to_text(pass.read), to_text(pass.written))});
  table.add({"time", to_text(cost.time), ""});
  print("\n{}", table.text("  "));
  return text;
}

namespace {

constexpr size_t kMostRanked = 20;

Json to_json(const std::vector<KernelCost>& costs) {
  Json list = Json::array();
  for (const KernelCost& cost : costs) {
    Json blocks = Json::object();
    for (const auto& [name, size] : cost.blocks) blocks[name] = size;
    list.push_back({{"blocks", std::move(blocks)},
                    {"time_ps", cost.time.count()},
                    {"vmem_bytes", cost.vmem.count()},
                    {"hbm_bytes", (cost.read + cost.written).count()}});
  }
  return list;
}

}  // namespace

std::string to_text(const BlockRanking& ranking) {
  std::string text;
  const TextBuilder print{text};
  Table table({{"rank", Align::kRight},
               {"time", Align::kRight},
               {"VMEM", Align::kRight},
               {"HBM", Align::kRight},
               {"blocks", Align::kLeft}});
  for (size_t i = 0; i < std::min(ranking.fitting.size(), kMostRanked); ++i) {
    const KernelCost& cost = ranking.fitting[i];
    table.add({fmt::format("{}", i + 1), to_text(cost.time), to_text(cost.vmem),
               to_text(cost.read + cost.written), block_text(cost)});
  }
  print("\n{} of {} blocks fit\n{}", grouped(static_cast<int64_t>(ranking.fitting.size())),
        grouped(static_cast<int64_t>(ranking.fitting.size() + ranking.rejected.size())), table.text("  "));
  if (ranking.fitting.size() > kMostRanked)
    print("  {} slower ones are left out\n",
          grouped(static_cast<int64_t>(ranking.fitting.size() - kMostRanked)));
  if (ranking.rejected.empty()) return text;
  const KernelCost& least = ranking.rejected.front();
  print("rejected: {} that need more than {} of VMEM, from {} ({}) on\n",
        grouped(static_cast<int64_t>(ranking.rejected.size())), to_text(least.vmem_limit),
        to_text(least.vmem), block_text(least));
  return text;
}

std::string to_json(const KernelReport& report, const BlockRanking* ranking) {
  const KernelCost& cost = report.cost;
  Json blocks = Json::object();
  for (const auto& [name, size] : cost.blocks) blocks[name] = size;
  Json passes = Json::array();
  for (const KernelPass& pass : cost.passes)
    passes.push_back({{"name", pass.name},
                      {"time_ps", pass.time.count()},
                      {"bytes_read", pass.read.count()},
                      {"bytes_written", pass.written.count()}});
  Bytes hbm_bytes = cost.read + cost.written;
  Json busy = Json::object();
  for (const auto& [name, unit] : {std::pair{"mxu_ps", Unit::kMxu},
                                   {"vpu_ps", Unit::kVpu},
                                   {"eup_ps", Unit::kEup},
                                   {"xlu_ps", Unit::kXlu}})
    busy[name] = cost.busy[index_of(unit)].count();
  for (const KernelPart& part : report.parts)
    if (part.name == "  HBM") busy["hbm_ps"] = part.time.count();
  Json json = {{"schema_version", 1},
               {"kernel", report.kernel},
               {"device", report.device},
               {"time_ps", cost.time.count()},
               {"kernel_ps", cost.kernel.count()},
               {"together_ps", cost.together.count()},
               {"apart_ps", cost.apart.count()},
               {"steps_ps", cost.step_overhead.count()},
               {"waits_ps", cost.waits.count()},
               {"around_ps", cost.around.count()},
               {"busy", std::move(busy)},
               {"blocks", std::move(blocks)},
               {"tuned", report.tuned},
               {"grid", cost.grid},
               {"cores", cost.cores},
               {"steps", cost.steps},
               {"computed_blocks", cost.computed},
               {"masked_blocks", cost.masked},
               {"skipped_blocks", cost.skipped},
               {"vmem_bytes", cost.vmem.count()},
               {"vmem_limit_bytes", cost.vmem_limit.count()},
               {"fits", cost.fits()},
               {"flops", cost.flops.count()},
               {"transcendentals", cost.transcendentals},
               {"hbm_bytes", hbm_bytes.count()},
               {"bound_by", report.bound_by},
               {"passes", std::move(passes)}};
  if (ranking) json["ranking"] = to_json(ranking->fitting), json["rejected"] = to_json(ranking->rejected);
  return json.dump(2) + "\n";
}

}  // namespace hlosim
