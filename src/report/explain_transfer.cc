#include "report/explain_transfer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "interconnect/collective_driver.h"

namespace hlosim {
namespace {

constexpr std::string_view kModule = "the module", kRun = "the run", kTerms = "of the terms above";
constexpr size_t kShownGroups = 4, kShownMembers = 16, kShownNames = 4;

/// "a, b, c and 5 more"
std::string names_text(const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), kShownNames);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<int>(shown), ", "));
  return names.size() > shown ? fmt::format("{} and {} more", text, names.size() - shown) : text;
}

// ── what there is ──

class Finder {
 public:
  Finder(const Module& module, const OpTable& table, const Simulation& simulation)
      : module_(module), table_(table), simulation_(simulation), shapes_(module.shapes().copy()) {}

  ExplainedTransfer find(const TransferRecord& record) {
    ExplainedTransfer found;
    found.record = record;
    found.start = module_[record.start_instruction].name;
    if (record.done_instruction.valid()) found.done = module_[record.done_instruction].name;
    for (const CollectiveCost& cost : record.wrapped) add_collective(cost, found.collectives);
    if (record.wrapped.empty() && record.collective) add_collective(*record.collective, found.collectives);
    const bool is_start = record.start_instruction != record.done_instruction;
    if (found.collectives.size() == 1) found.collectives[0].is_start = is_start;
    for (const TransferRecord& other : simulation_.transfers) {
      if (other.executions == 0 || other.start_instruction == record.start_instruction) continue;
      const std::string name(module_[other.start_instruction].name);
      if (other.lane == record.lane && other.end > record.start && other.end <= record.begin)
        found.behind.push_back(name);
      if (other.lane != record.lane && other.begin < record.end && other.end > record.begin &&
          other.bytes.count() > 0)
        found.beside.push_back(name);
    }
    if (record.queued.count() == 0) found.behind.clear();
    return found;
  }

 private:
  void add_collective(const CollectiveCost& cost, std::vector<ExplainedCollective>& into) {
    const Instruction& instruction = module_[cost.instruction];
    const auto groups =
        collective_groups(OpContext(module_, shapes_, instruction, table_, nullptr), simulation_.grid);
    if (groups)
      into.push_back({std::string(instruction.name), std::string(table_[instruction.opcode].name), *groups,
                      cost, simulation_.slice.text(), simulation_.slice.count > 1});
  }

  const Module& module_;
  const OpTable& table_;
  const Simulation& simulation_;
  ShapePool shapes_;
};

// ── terms ──

/// What of the device's launch the collective has to wait for.
void add_launch(ExplainedTerm& term, const CollectiveCost& cost, const Device& device) {
  const IciConfig& ici = device.config.ici;
  const bool within = is_within_chip(cost) && ici.die_launch;
  const std::string path = within                       ? "ici.die_launch"
                           : cost.driver == Unit::kNone ? "ici.launch"
                                                        : "sparsecore.launch";
  const Picoseconds whole = within ? *ici.die_launch : cost.driver == Unit::kNone ? ici.launch : cost.launch;
  if (cost.launch == whole) return term.add_key(device, "launch", path);
  term.add("launch", to_text(cost.launch),
           cost.launch < whole
               ? "all of it but the time of the bytes: the first travel while others get ready"
               : "twice, and a hop between: who exchanges waits for both sides");
  term.add_key(device, "all of it", path);
}

ExplainedTerm collective_term(const ExplainedCollective& one, const Device& device) {
  const CollectiveCost& cost = one.cost;
  const std::string work = cost.driver == Unit::kNone ? "links" : std::string(unit_row(cost.driver).name);
  ExplainedTerm term{fmt::format("{} {}", one.opcode, one.instruction),
                     (cost.launch.count() > 0 ? "launch + " : "") + work,
                     {},
                     cost.time()};
  term.add("algorithm", cost.algorithm, "docs/timing_model.md");
  if (one.groups.pairs.empty())
    term.add("groups",
             fmt::format("{} of {}, {}", cost.group_count, cost.group_size, to_text(one.groups.mode)),
             kModule);
  term.add(one.groups.pairs.empty() ? "members" : "pairs", groups_text(one.groups), kModule);
  term.add("slice", one.slice, "--topology, else the most compact box");
  term.add("payload", to_text(cost.payload), "the module: one member's arrays, padded");
  if (cost.scalar_payload.count() > 0) term.add("scalars", to_text(cost.scalar_payload), "the module");
  term.add("sent", to_text(cost.sent + cost.scalar_sent), "by one member at least, without padding");
  if (cost.launch.count() > 0) add_launch(term, cost, device);
  term.add(work, to_text(cost.stream()), "below");
  return term;
}

ExplainedTerm links_term(const ExplainedCollective& one, const Device& device) {
  const CollectiveCost& cost = one.cost;
  ExplainedTerm term{"links", "bytes + hops x hop latency,\nbytes = " + cost.equation, {}, cost.network};
  term.add("bytes", to_text(cost.by_bytes), "by the equation");
  term.add(one.groups.pairs.empty() ? "V" : "S", to_text(cost.volume), kModule);
  if (one.groups.pairs.empty() && cost.volume != cost.payload + cost.scalar_payload)
    term.add("S", to_text(cost.payload + cost.scalar_payload), kModule);
  const bool by_cores = cost.driver == Unit::kNone && device.config.ici.core_bandwidth;
  const std::string rate = by_cores ? "ici.core_bandwidth" : "ici.bandwidth";
  term.add("w", to_text(cost.link),
           fmt::format("{} x ici.links / 2 per dimension, this group's share", rate));
  term.add_key(device, "rate of a link", rate);
  term.add_key(device, "links of a chip", "ici.links");
  term.add("hops", grouped(cost.hops), "one after the other");
  term.add_key(device, "hop latency", "ici.hop_latency");
  term.add_key(device, "rate within a chip", "ici.die_to_die");
  if (const Picoseconds held = held_by_start({&cost, 1}, device.config); held.count() > 0 && one.is_start)
    term.add("held by the start", to_text(held), "the first step of it, which the TensorCores wait for");
  if (one.between_slices) {
    term.add_key(device, "rate of a host", "host.dcn.bandwidth");
    term.add_key(device, "latency of hosts", "host.dcn.latency");
    term.add_key(device, "chips of a host", "host.chips");
  }
  if (cost.bound.count() > 0)
    term.add("no schedule below", to_text(cost.bound), "what a member's links or the farthest hop allow");
  return term;
}

/// What drives a collective beside the TensorCore, with all numbers that its unit has in the device file.
ExplainedTerm driver_term(const Device& device, const CollectiveCost& cost) {
  const UnitRow& row = unit_row(cost.driver);
  ExplainedTerm term{
      std::string(row.name), "max(links, folded bytes / 4 / lanes x cadence / clock)", {}, cost.driving};
  term.add("links", to_text(cost.network), kTerms);
  const std::string section = std::string(row.section) + ".";
  for (const DeviceValue& value : device.values)
    if (value.path.starts_with(section) || value.path == "clock")
      term.numbers.push_back(
          {value.path.starts_with(section) ? value.path.substr(section.size()) : value.path, value.text,
           value.path, value.source});
  return term;
}

/// send and recv between devices.
ExplainedTerm hop_term(const TransferRecord& record, const Device& device) {
  ExplainedTerm term{"links", "bytes / rate of a link", {}, record.alone};
  term.add_key(device, "rate of a link", "ici.bandwidth");
  term.add_key(device, "hop latency", "ici.hop_latency");
  term.add_key(device, "launch", "ici.launch");
  return term;
}

/// From start to end, as other transfers let it.
ExplainedTerm run_term(const ExplainedTransfer& transfer) {
  const TransferRecord& record = transfer.record;
  const bool at_once = record.start_instruction == record.done_instruction;
  ExplainedTerm term{
      fmt::format("{} {}", to_text(record.kind), at_once ? "on the TensorCore" : "beside the TensorCore"),
      "end - start = queue + start latency + alone + sharing",
      {},
      record.duration};
  term.add("bytes", to_text(record.bytes), kModule);
  const std::string behind = record.queued.count() > 0 && transfer.behind.empty()
                                 ? "the run: others of its lane"
                                 : fmt::format("{}{}", kRun, transfer.behind.empty() ? "" : ": behind ") +
                                       names_text(transfer.behind);
  term.add("queue", to_text(record.queued), behind);
  term.add("start latency", to_text(record.latency), "launch, and memory's first and last bytes");
  term.add("alone", to_text(record.alone), kTerms);
  const Picoseconds sharing = transfer.sharing();
  if (sharing.count() > 0)
    term.add("sharing", to_text(sharing),
             fmt::format("{}: HBM, with the TensorCore{}{}", kRun, transfer.beside.empty() ? "" : " and ",
                         names_text(transfer.beside)));
  term.add("hidden", to_text(record.hidden), kRun);
  term.add("exposed", to_text(record.exposed), kRun);
  if (!at_once) term.add("waited for by", transfer.done.empty() ? "nothing" : transfer.done, kModule);
  return term;
}

}  // namespace

Picoseconds ExplainedTransfer::sharing() const {
  const Picoseconds rest = record.duration - record.queued - record.latency - record.alone;
  return std::max(rest, Picoseconds(0));
}

namespace {

/// The computations that `caller` calls list it, or what these call in turn does.
bool calls(const Module& module, InstructionId caller, InstructionId wanted) {
  bool found = false;
  for_each_called(module[caller], [&](ComputationId called) {
    for (const InstructionId inner : module[called].instructions)
      found = found || inner == wanted || calls(module, inner, wanted);
  });
  return found;
}

}  // namespace

std::vector<ExplainedTransfer> transfers_of(const Module& module, const OpTable& table,
                                            const Simulation& simulation, InstructionId id) {
  std::vector<ExplainedTransfer> found;
  for (const TransferRecord& record : simulation.transfers)
    if (record.start_instruction == id || record.done_instruction == id ||
        (table[module[id].opcode].has(kCollective) && calls(module, record.start_instruction, id)))
      found.push_back(Finder(module, table, simulation).find(record));
  return found;
}

std::vector<ExplainedTerm> terms_of(const ExplainedTransfer& transfer, const Device& device) {
  std::vector<ExplainedTerm> terms;
  for (const ExplainedCollective& one : transfer.collectives) {
    terms.push_back(collective_term(one, device));
    if (one.cost.network.count() > 0) terms.push_back(links_term(one, device));
    if (one.cost.driver != Unit::kNone) terms.push_back(driver_term(device, one.cost));
  }
  if (transfer.collectives.empty() && transfer.record.kind == TransferKind::kCollective)
    terms.push_back(hop_term(transfer.record, device));
  terms.push_back(run_term(transfer));
  return terms;
}

std::string groups_text(const CollectiveGroups& groups) {
  std::vector<std::string> parts;
  if (!groups.pairs.empty()) {
    for (const auto& [from, to] : groups.pairs) {
      if (parts.size() == kShownMembers) break;
      parts.push_back(fmt::format("{}→{}", from, to));
    }
    const size_t rest = groups.pairs.size() - parts.size();
    return fmt::format("{}{}", fmt::join(parts, " "), rest > 0 ? fmt::format(" and {} more", rest) : "");
  }
  for (const std::vector<int64_t>& group : groups.groups) {
    if (parts.size() == kShownGroups) break;
    const size_t shown = std::min(group.size(), kShownMembers);
    parts.push_back(fmt::format("{{{}{}}}",
                                fmt::join(group.begin(), group.begin() + static_cast<int>(shown), ","),
                                group.size() > shown ? fmt::format(",… {} in all", group.size()) : ""));
  }
  const size_t rest = groups.groups.size() - parts.size();
  return fmt::format("{}{}", fmt::join(parts, " "), rest > 0 ? fmt::format(" and {} more", rest) : "");
}

}  // namespace hlosim
