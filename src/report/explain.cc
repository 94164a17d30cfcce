#include "report/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "layout/shape_text.h"
#include "model/custom_call_costs.h"
#include "model/memory_system.h"
#include "model/pallas/known_call.h"
#include "model/product_vector.h"
#include "model/smallest_times.h"
#include "model/strided_access.h"
#include "report/explain_kernel.h"
#include "report/explain_kernel_body.h"
#include "report/explain_transfer.h"
#include "text/json.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

constexpr std::string_view kModule = "the module";
constexpr std::string_view kPlan = "the best blocks that fit (docs/timing_model.md)";

class Explainer {
 public:
  /// `on_links`: a collective that the TensorCore waits for.
  /// `given_by`: where the user's cost of a custom call stands.
  Explainer(const Device& device, const CostDetails& details, bool on_links, std::string given_by)
      : device_(device),
        config_(device.config),
        cost_(details.cost),
        compute_(details.compute),
        on_links_(on_links),
        given_by_(std::move(given_by)) {}

  /// Of a kernel's body, which says what the units do.
  std::vector<ExplainedTerm> terms_with(const KernelOfCall& kernel) {
    terms_ = terms_of_kernel(kernel);
    for (size_t i = 0; i < config_.memory.size(); ++i) memory(i);
    whole();
    return std::move(terms_);
  }

  std::vector<ExplainedTerm> terms() {
    matmul();
    vector_unit();
    around_product();
    beside(Unit::kEup, compute_.slots.eup);
    beside(Unit::kXlu, compute_.slots.xlu);
    beside(Unit::kScalar, compute_.slots.scalar);
    for (size_t i = 0; i < config_.memory.size(); ++i) memory(i);
    user();
    blocks();
    whole();
    return std::move(terms_);
  }

 private:
  ExplainedTerm& add(std::string name, std::string formula, Picoseconds result) {
    terms_.push_back({std::move(name), std::move(formula), {}, result});
    return terms_.back();
  }
  /// A value of the device file.
  void key(ExplainedTerm& term, std::string name, const std::string& path) const {
    const DeviceValue* value = device_.value(path);
    if (value) term.numbers.push_back({std::move(name), value->text, path, value->source});
  }
  static void given(ExplainedTerm& term, std::string name, std::string value,
                    std::string_view source = kModule) {
    term.numbers.push_back({std::move(name), std::move(value), "", std::string(source)});
  }
  void cores(ExplainedTerm& term) const {
    if (config_.cores > 1) key(term, "cores", "cores");
  }
  Picoseconds busy(Unit unit) const { return cost_.busy[index_of(unit)]; }
  static std::string count(double value) {
    return value < 1e15 && value == static_cast<double>(static_cast<int64_t>(value))
               ? grouped(static_cast<int64_t>(value))
               : fmt::format("{:.6g}", value);
  }

  void matmul() {
    const MatmulPart& part = compute_.matmul;
    if (part.cycles <= 0) return;
    const PipelineSummary& p = cost_.pipeline;
    ExplainedTerm& term =
        add("MXU",
            "steps x passes x (cadence x issues x t + latch + max(latch - cadence x issues, 0) x (t - 1) + "
            "latency) / clock,\n"
            "issues = ceil(bm / rows / r), t = ceil(tiles x r / count), tiles = batch x ceil(bk / depth) x "
            "ceil(bn / width),\n"
            "latch = latch cadence x ceil(min(bk, depth) / latch rows), r the best of 1 ... count",
            busy(Unit::kMxu));
    const MatmulWork& work = part.work;
    given(term, "product", fmt::format("{} x [{},{}]x[{},{}]", work.batch, work.m, work.k, work.k, work.n));
    given(term, "block", fmt::format("{} x [{},{}]x[{},{}]", p.batch, p.m, p.k, p.k, p.n),
          p.given ? "the module's window_config" : kPlan);
    given(term, "steps", count(static_cast<double>(p.steps)), p.given ? "the module's window_config" : kPlan);
    const std::string type = fmt::format("mxu.types.{}.", to_text(part.rate.lhs));
    given(
        term, "passes", count(static_cast<double>(part.rate.passes)),
        part.rate.emulated ? "mxu.emulated, and the precision of the module" : "the precision of the module");
    for (const char* name : {"cadence", "rows", "latency"}) key(term, name, type + name);
    const std::string weights = fmt::format("mxu.types.{}.", to_text(part.rate.rhs));
    key(term, "latch rows", weights + "latch_rows");
    key(term, "latch cadence", weights + "latch_cadence");
    key(term, "depth", "mxu.rows");
    key(term, "width", "mxu.columns");
    key(term, "count", "mxu.count");
    key(term, "clock", "clock");
    cores(term);
    if (p.split != '-')
      given(term, "shared by", p.split == 'b' ? "batch" : p.split == 'm' ? "rows" : "columns", kPlan);
    if (compute_.mxu_cycles > part.cycles)
      given(term, "further products", count(compute_.mxu_cycles - part.cycles) + " cycles of all arrays",
            kPlan);
  }

  void vector_unit() {
    if (busy(Unit::kVpu).count() == 0) return;
    const MatmulPart& part = compute_.matmul;
    ExplainedTerm& term = add("VPU", "(slots + conversions) / (alus x cores) / clock", busy(Unit::kVpu));
    given(term, "slots", count(compute_.slots.alu),
          "operations of the module x vpu.ops, on padded registers");
    if (part.lhs.convert + part.rhs.convert > 0)
      given(term, "conversions",
            fmt::format("left {} once per block of columns, right {} once per block of rows",
                        count(part.lhs.convert), count(part.rhs.convert)),
            "mxu.emulated.TYPE.convert");
    key(term, "alus", "vpu.alus");
    key(term, "clock", "clock");
    cores(term);
  }

  /// What the vector unit does to the operands and results of a product, and what of it finds no slots.
  void around_product() {
    const BlockVector vector = vector_of_blocks(config_, compute_, cost_.pipeline);
    if (vector.operands + vector.results <= Picoseconds(0)) return;
    ExplainedTerm& term = add("vector work around the product",
                              "exposed x (operands + results) + stalls x MXU", vector.exposed);
    producers(term, "left operand, once", compute_.matmul.lhs.producers);
    producers(term, "right operand, once", compute_.matmul.rhs.producers);
    given(term, "operands", to_text(vector.operands),
          "bundles / clock, anew for each block of the other one");
    given(term, "results", to_text(vector.results), "bundles / clock, all other vector work");
    key(term, "exposed", "mxu.vector_exposed");
    key(term, "stalls", "mxu.vector_stalls");
    key(term, "ALU slots of a bundle", "vpu.alus");
    key(term, "EUP slots", "eup.count");
    cores(term);
  }

  static void producers(ExplainedTerm& term, std::string name, const VectorSlots& slots) {
    if (slots.alu + slots.eup + slots.xlu <= 0) return;
    given(term, std::move(name),
          fmt::format("{} ALU, {} EUP, {} XLU", count(slots.alu), count(slots.eup), count(slots.xlu)),
          "slots: operations of the module x vpu.ops");
  }

  void beside(Unit unit, double operations) {
    if (busy(unit).count() == 0) return;
    const std::string section(unit_row(unit).section);
    ExplainedTerm& term =
        add(std::string(unit_row(unit).name), "operations x cadence / (count x cores) / clock", busy(unit));
    given(term, "operations", count(operations), "operations of the module x vpu.ops, on padded registers");
    if (compute_.scattered_accesses > 0 && unit == Unit::kScalar) {
      given(term, "accesses", count(static_cast<double>(compute_.scattered_accesses)));
      key(term, "issue", "dma.issue");
    }
    key(term, "cadence", section + ".cadence");
    key(term, "count", section + ".count");
    key(term, "clock", "clock");
    cores(term);
  }

  void memory(size_t space) {
    const Traffic& traffic = cost_.traffic[space];
    const Unit unit = memory_unit(space);
    const MemorySpace& config = config_.memory[space];
    if (busy(unit).count() == 0 || config.scope == MemoryScope::kHost) return;
    const bool is_hbm = &config == &config_.hbm();
    const bool turns = is_hbm && (config.read || config.write);
    ExplainedTerm& term =
        add(unit_name(config_, unit),
            turns    ? "2 x the smaller / min(bandwidth, DMA x cores) + the rest / its own rate"
            : is_hbm ? "(read + written) / min(bandwidth, DMA x cores)"
                     : "max(read / read rate, written / write rate, both / bandwidth)",
            busy(unit));
    given(term, "read", to_text(traffic.read), "the module; what comes in again included");
    given(term, "written", to_text(traffic.written));
    const PipelineSummary& p = cost_.pipeline;
    if (p.lhs_times > 1) given(term, "left operand comes in", fmt::format("{:g} times", p.lhs_times), kPlan);
    if (p.rhs_times > 1) given(term, "right operand comes in", fmt::format("{:g} times", p.rhs_times), kPlan);
    const std::string path = "memory." + config.name;
    key(term, "bandwidth", path + ".bandwidth");
    key(term, "read rate", path + ".read");
    key(term, "write rate", path + ".write");
    if (is_hbm) {
      key(term, "DMA", "dma.bandwidth");
      cores(term);
    }
    if (is_hbm) short_runs(term);
    if (&config == config_.memory_space(int64_t{1})) moves(term);
    if (is_hbm && compute_.scattered_accesses > 0) {
      given(term, "accesses", count(static_cast<double>(compute_.scattered_accesses)));
      key(term, "least per access", "dma.full_rate_run");
    }
  }

  /// Windows that cut through tiles take the DMA engines longer than their bytes say.
  void short_runs(ExplainedTerm& term) const {
    const auto runs = [&](const char* what, const ShortRuns& some) {
      if (some.runs > 0)
        given(term, what, fmt::format("{} in {} rows", count(some.runs), count(some.rows)),
              "window_runs() of the layouts; at least runs x short run + rows x row");
    };
    runs("short runs read", compute_.hbm_reads);
    runs("short runs written", compute_.hbm_writes);
    if (compute_.hbm_reads.runs + compute_.hbm_writes.runs == 0) return;
    key(term, "short run", "dma.short_run");
    key(term, "row", "dma.short_run_row");
  }

  void moves(ExplainedTerm& term) const {
    const bool on_chip = cost_.traffic[MemorySystem(config_).hbm()].total().count() == 0;
    const double tiles = on_chip ? compute_.moved_tiles : compute_.regrouped_tiles;
    if (tiles <= 0) return;
    given(term, "tiles that move", count(tiles),
          "the smaller tiles of both layouts; at least tiles x tile move");
    key(term, "tile move", "vmem.tile_move");
  }

  void user() {
    if (busy(Unit::kCustom).count() > 0) {
      ExplainedTerm& term = add("custom call", "time", busy(Unit::kCustom));
      given(term, "time", to_text(busy(Unit::kCustom)), given_by_);
    }
    if (busy(Unit::kHost).count() > 0) {
      ExplainedTerm& term = add("host", "bytes / PCIe", busy(Unit::kHost));
      key(term, "PCIe", "host.pcie.bandwidth");
    }
  }

  void blocks() {
    const PipelineSummary& p = cost_.pipeline;
    if (p.steps == 0) return;
    const bool is_ragged = p.m > 0 && compute_.matmul.work.ragged, is_product = p.m > 0 && !is_ragged;
    ExplainedTerm& term =
        add("blocks",
            is_ragged
                ? "groups of a core x first in + steps x max(step, DMA of a step) + last out, at most"
                : fmt::format("first in + step + (steps - 1) x {} + last out, at most",
                              is_product ? "(step^p + (DMA of a step)^p)^(1/p)" : "max(step, DMA of a step)"),
            p.first_in + p.last_out + p.step_work);
    given(term, "steps", grouped(p.steps), p.given ? "the module's window_config" : kPlan);
    given(term, "first in", to_text(p.first_in),
          is_ragged ? "a group's weights: bytes / rate + read latency" : "its bytes / rate + read latency");
    given(term, "step", to_text(p.step_work),
          is_ragged ? "the units above, which take turns / steps" : "the longest unit above / steps");
    given(term, "DMA of a step", to_text(p.step_dma),
          is_ragged    ? "(all bytes but weights / rate + latency) / steps"
          : is_product ? "bytes that change / rate"
                       : "bytes / rate, or half of step + bytes / rate + latency");
    given(term, "last out", to_text(p.last_out), "its bytes / rate + write latency");
    if (is_product) key(term, "p", "dma.overlap");
    key(term, "read latency", "dma.read_latency");
    key(term, "write latency", "dma.write_latency");
    key(term, "scratch", "vmem.scoped_limit");
    term.result = p.first_in + p.last_out;
  }

  void whole() {
    ExplainedTerm& fixed = add(
        "not hidden",
        on_links_
            ? "instruction + latencies - idle gain, at least smallest - longest unit but for links, + launch"
            : "blocks - longest unit + instruction - idle gain, at least smallest - longest unit",
        cost_.fixed);
    key(fixed, "instruction", "overhead.instruction");
    const Traffic& hbm = cost_.traffic[MemorySystem(config_).hbm()];
    if (hbm.total().count() > 0) {
      if (const Picoseconds gain = idle_gain(hbm, config_); gain.count() > 0)
        given(fixed, "idle gain", to_text(gain), "its latencies - those of a loaded memory");
    }
    if (hbm.read.count() > 0)
      key(fixed, "smallest", "overhead.smallest_fusion");
    else if (hbm.written.count() > 0)
      key(fixed, "smallest", "overhead.smallest_write");
    ExplainedTerm& all = add("time", "longest unit + not hidden", cost_.time());
    given(all, "longest unit", to_text(cost_.stream), "of the terms above");
    given(all, "not hidden", to_text(cost_.fixed), "of the terms above");
  }

  const Device& device_;
  const DeviceConfig& config_;
  const InstructionCost& cost_;
  const ComputeSummary& compute_;
  const bool on_links_;
  const std::string given_by_;
  std::vector<ExplainedTerm> terms_;
};

}  // namespace

Result<Explanation> explain(const Module& module, const OpTable& table, const Device& device,
                            const CostOptions& options, InstructionId id, const Simulation& simulation) {
  const Result<CostDetails> details = cost_details(module, table, device, options, id);
  if (!details) return tl::unexpected(details.error());
  const Instruction& instruction = module[id];
  const OpDef& def = table[instruction.opcode];
  CostDetails own = *details;
  Explanation result;
  for (const InstructionRecord& record : simulation.instructions) {
    if (record.id != id) continue;
    result.executions += record.executions;
    result.in_run += record.time;
    result.waited += record.exposed;
    result.computation = std::string(module[record.computation].name);
    if (record.waited_for >= 0)
      result.waited_for =
          module[simulation.transfers[static_cast<size_t>(record.waited_for)].start_instruction].name;
    // Links are no part of cost_details().
    if (def.has(kCollective) && !def.has(kAsyncStart)) own.cost = record.cost;
  }
  result.instruction = std::string(instruction.name);
  result.opcode = std::string(def.name);
  result.device = device.config.name;
  result.cost = own.cost;
  result.bound_by = unit_name(device.config, own.cost.bound_by);
  const bool on_links = own.cost.busy[index_of(Unit::kIci)].count() > 0;
  const CustomCallCost* given = options.custom_calls ? options.custom_calls->find(instruction) : nullptr;
  if (given) result.given_by = fmt::format("the user's \"{}\", {}", given->key, given->place());
  KernelBodies kernels(device.config, options.custom_calls);
  std::string problem;
  const KernelOfCall* const body = given ? nullptr : kernels.find(module, instruction, problem);
  if (body) result.given_by = "its body, step by step of its grid";
  const KnownCall known = given || body ? KnownCall{} : known_call(module, instruction, device.config);
  if (known) result.given_by = fmt::format("its {}", known.text(device.config));
  Explainer explainer(device, own, on_links, result.given_by);
  if (body)
    result.terms = explainer.terms_with(*body);
  else if (known.kernel)
    result.terms = kernel_terms(device, *known.kernel, own.cost);
  else if (known.estimate)
    result.terms = estimate_terms(device, *known.estimate, own.cost);
  else
    result.terms = explainer.terms();
  result.transfers = transfers_of(module, table, device, simulation, id);
  for (const ExplainedTransfer& transfer : result.transfers) {
    std::vector<ExplainedTerm> terms = terms_of(transfer, device);
    // The instruction's own time comes last; what a collective takes on the links is part of it.
    result.terms.insert(result.terms.end() - (on_links ? 2 : 1), std::make_move_iterator(terms.begin()),
                        std::make_move_iterator(terms.end()));
  }
  return result;
}

std::string to_text(const Explanation& e) {
  std::string text;
  const TextBuilder print{text};
  print("{} = {} on {}: {} each time, bound by {}\n", e.instruction, e.opcode, e.device,
        to_text(e.cost.time()), e.bound_by);
  if (e.executions == 0) {
    print("  does not run on its own in this module\n");
    for (const ExplainedTransfer& transfer : e.transfers) print("  {} runs it\n", transfer.start);
  } else {
    print("  in {}: {} {}, {} in all, waiting included\n", e.computation, e.executions,
          e.executions == 1 ? "execution" : "executions", to_text(e.in_run));
  }
  if (!e.given_by.empty()) print("  costed by {}\n", e.given_by);
  if (e.waited.count() > 0)
    print("  of it {} waiting for {}\n", to_text(e.waited),
          e.waited_for.empty() ? "transfers" : e.waited_for);
  for (const ExplainedTerm& term : e.terms) {
    print("\n{:<44} {:>12}\n", term.name, to_text(term.result));
    size_t from = 0;
    while (from <= term.formula.size()) {
      const size_t end = std::min(term.formula.find('\n', from), term.formula.size());
      print("  {}\n", std::string_view(term.formula).substr(from, end - from));
      from = end + 1;
    }
    for (const ExplainedNumber& number : term.numbers) {
      print("    {:<24} {:<24} {}{}{}\n", number.name, number.value, number.key,
            number.key.empty() ? "" : "  ", number.source);
    }
  }
  return printable(std::move(text));
}

namespace {

constexpr size_t kMostMembers = 4096;  // listed one by one

Json term_json(const ExplainedTerm& term) {
  Json numbers = Json::array();
  for (const ExplainedNumber& number : term.numbers)
    numbers.push_back({{"name", number.name},
                       {"value", number.value},
                       {"key", number.key.empty() ? Json(nullptr) : Json(number.key)},
                       {"source", number.source}});
  return {{"name", term.name},
          {"formula", term.formula},
          {"result_ps", term.result.count()},
          {"numbers", std::move(numbers)}};
}

Json groups_json(const CollectiveGroups& groups) {
  Json all = Json::array();
  size_t members = 0;
  for (const std::vector<int64_t>& group : groups.groups) {
    members += group.size();
    if (members > kMostMembers) return nullptr;
    all.push_back(Json(group));
  }
  return all;
}

Json collective_json(const ExplainedCollective& one) {
  const CollectiveCost& cost = one.cost;
  Json pairs = Json::array();
  for (const auto& [from, to] : one.groups.pairs) pairs.push_back({from, to});
  return {
      {"instruction", one.instruction},
      {"opcode", one.opcode},
      {"algorithm", cost.algorithm},
      {"equation", cost.equation},
      {"mode", std::string(to_text(one.groups.mode))},
      {"group_count", cost.group_count},
      {"group_size", cost.group_size},
      {"groups", groups_json(one.groups)},
      {"pairs", one.groups.pairs.size() > kMostMembers ? Json(nullptr) : std::move(pairs)},
      {"slice", one.slice},
      {"payload_bytes", cost.payload.count()},
      {"scalar_payload_bytes", cost.scalar_payload.count()},
      {"sent_bytes", cost.sent.count()},
      {"launch_ps", cost.launch.count()},
      {"network_ps", cost.network.count()},
      {"by_bytes_ps", cost.by_bytes.count()},
      {"by_hops_ps", cost.by_hops.count()},
      {"hops", cost.hops},
      {"link_bytes_per_second", cost.link.count()},
      {"driver", cost.driver == Unit::kNone ? Json(nullptr) : Json(std::string(unit_row(cost.driver).name))},
      {"driving_ps", cost.driving.count()}};
}

Json transfer_json(const ExplainedTransfer& transfer) {
  const TransferRecord& record = transfer.record;
  Json collectives = Json::array();
  for (const ExplainedCollective& one : transfer.collectives) collectives.push_back(collective_json(one));
  return {{"start", transfer.start},
          {"done", transfer.done.empty() ? Json(nullptr) : Json(transfer.done)},
          {"kind", std::string(to_text(record.kind))},
          {"bytes", record.bytes.count()},
          {"duration_ps", record.duration.count()},
          {"queued_ps", record.queued.count()},
          {"queued_behind", transfer.behind},
          {"latency_ps", record.latency.count()},
          {"alone_ps", record.alone.count()},
          {"sharing_ps", transfer.sharing().count()},
          {"shares_with", transfer.beside},
          {"hidden_ps", record.hidden.count()},
          {"exposed_ps", record.exposed.count()},
          {"collectives", std::move(collectives)}};
}

}  // namespace

std::string to_json(const Explanation& e) {
  Json json = {
      {"schema_version", 1}, {"instruction", e.instruction}, {"opcode", e.opcode}, {"device", e.device}};
  json["computation"] = e.computation.empty() ? Json(nullptr) : Json(e.computation);
  json["time_ps"] = e.cost.time().count();
  json["longest_unit_ps"] = e.cost.stream.count();
  json["not_hidden_ps"] = e.cost.fixed.count();
  json["bound_by"] = e.bound_by;
  json["executions"] = e.executions;
  json["in_run_ps"] = e.in_run.count();
  json["waited_ps"] = e.waited.count();
  json["waited_for"] = e.waited_for.empty() ? Json(nullptr) : Json(e.waited_for);
  json["cost_given_by"] = e.given_by.empty() ? Json(nullptr) : Json(e.given_by);
  json["terms"] = Json::array();
  for (const ExplainedTerm& term : e.terms) json["terms"].push_back(term_json(term));
  json["transfers"] = Json::array();
  for (const ExplainedTransfer& transfer : e.transfers) json["transfers"].push_back(transfer_json(transfer));
  return json.dump(2) + "\n";
}

}  // namespace hlosim
