#include "sim/transfer_terms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "interconnect/collective_driver.h"
#include "interconnect/offload.h"
#include "model/time_keys.h"

namespace hlosim {
namespace {

constexpr std::string_view kModule = "the module", kRun = "the run";
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

  TransferTerms find(const TransferRecord& record) {
    TransferTerms found;
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
  void add_collective(const CollectiveCost& cost, std::vector<CollectiveTerms>& into) {
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

/// A key of the section that the unit has in device files.
std::string section_key(Unit unit, std::string_view key) {
  return fmt::format("{}.{}", unit_row(unit).section, key);
}

/// What of the device's launch the collective has to wait for.
void add_launch(Term& term, const CollectiveCost& cost, const Device& device) {
  const IciConfig& ici = device.config.ici;
  const bool within = is_within_chip(cost) && ici.die_launch;
  const std::string path = within                       ? "ici.die_launch"
                           : cost.driver == Unit::kNone ? "ici.launch"
                                                        : section_key(cost.driver, "launch");
  const Picoseconds whole = within ? *ici.die_launch : cost.driver == Unit::kNone ? ici.launch : cost.launch;
  if (cost.launch <= whole) {
    term.adds_key(device, "launch", path, whole);
    if (cost.launch < whole)
      term.adds("hidden part", static_cast<double>((cost.launch - whole).count()),
                "the first bytes travel while others get ready");
    return;
  }
  term.adds("launch", cost.launch, "twice, and a hop between: an exchange needs both sides");
  term.key(device, "each", path);
}

Term collective_term(const CollectiveTerms& one, const Device& device) {
  const CollectiveCost& cost = one.cost;
  const std::string work = cost.driver == Unit::kNone ? "links" : std::string(unit_row(cost.driver).name);
  Term term{fmt::format("{} {}", one.opcode, one.instruction),
            (cost.launch.count() > 0 ? "launch + " : "") + work,
            {},
            cost.time()};
  term.fact("algorithm", cost.algorithm, "docs/timing_model.md");
  if (one.groups.pairs.empty())
    term.fact("groups",
              fmt::format("{} of {}, {}", cost.group_count, cost.group_size, to_text(one.groups.mode)),
              kModule);
  term.fact(one.groups.pairs.empty() ? "members" : "pairs", groups_text(one.groups), kModule);
  term.fact("slice", one.slice, "--topology, else the most compact box");
  term.fact("payload", to_text(cost.payload), "the module: one member's arrays, padded");
  if (cost.scalar_payload.count() > 0) term.fact("scalars", to_text(cost.scalar_payload), "the module");
  term.fact("sent", to_text(cost.sent + cost.scalar_sent), "by one member at least, without padding");
  if (cost.launch.count() > 0) add_launch(term, cost, device);
  term.adds(work, cost.stream(), "below");
  return term;
}

Term links_term(const CollectiveTerms& one, const Device& device) {
  const CollectiveCost& cost = one.cost;
  Term term{"links", "bytes + hops x hop latency,\nbytes = " + cost.equation, {}, cost.network};
  term.adds("bytes", cost.by_bytes, "by the equation");
  term.fact(one.groups.pairs.empty() ? "V" : "S", to_text(cost.volume), kModule);
  if (one.groups.pairs.empty() && cost.volume != cost.payload + cost.scalar_payload)
    term.fact("S", to_text(cost.payload + cost.scalar_payload), kModule);
  const bool by_cores = cost.driver == Unit::kNone && device.config.ici.core_bandwidth;
  const std::string rate = by_cores ? "ici.core_bandwidth" : "ici.bandwidth";
  term.fact("w", to_text(cost.link),
            fmt::format("{} x ici.links / 2 per dimension, this group's share", rate));
  term.key(device, "rate of a link", rate);
  term.key(device, "links of a chip", "ici.links");
  term.adds("latency of hops", cost.by_hops, fmt::format("{} hops, one after the other", grouped(cost.hops)));
  term.key(device, "hop latency", "ici.hop_latency");
  term.key(device, "rate within a chip", "ici.die_to_die");
  if (const Picoseconds held = held_by_start({&cost, 1}, device.config); held.count() > 0 && one.is_start)
    term.fact("held by the start", to_text(held), "its first step, on which the TensorCores stall");
  if (one.between_slices) {
    term.key(device, "rate of a host", "host.dcn.bandwidth");
    term.key(device, "latency of hosts", "host.dcn.latency");
    term.key(device, "chips of a host", "host.chips");
  }
  if (cost.bound.count() > 0)
    term.fact("no schedule below", to_text(cost.bound), "limit of a member's links or of the farthest hop");
  return term;
}

/// What drives a collective beside the TensorCore, with all numbers that its unit has in the device file.
Term driver_term(const Device& device, const CollectiveCost& cost) {
  const UnitRow& row = unit_row(cost.driver);
  Term term{
      std::string(row.name), "max(links, folded bytes / 4 / lanes x cadence / clock)", {}, cost.driving};
  term.part("links", cost.network);
  const std::string section = std::string(row.section) + ".";
  for (const DeviceValue& value : device.values)
    if (value.path.starts_with(section) || value.path == "clock")
      term.key(device, value.path.starts_with(section) ? value.path.substr(section.size()) : value.path,
               value.path);
  return term;
}

/// send and recv between devices.
Term hop_term(const TransferRecord& record, const Device& device) {
  Term term{"links", "bytes / rate of a link", {}, record.alone};
  term.key(device, "rate of a link", "ici.bandwidth");
  term.key(device, "hop latency", "ici.hop_latency");
  term.key(device, "launch", "ici.launch");
  return term;
}

/// Keys of what a copy, or a gather beside the TensorCore, reads and writes.
void add_copy_keys(Term& term, const TransferRecord& record, const Device& device) {
  if (record.kind == TransferKind::kCollective || record.bytes.count() == 0) return;
  TimeKeySet keys{TimeKey::kReadLatency, TimeKey::kWriteLatency, TimeKey::kOutstanding};
  if (record.lane == Lane::kHost) keys.add({TimeKey::kPcieBandwidth, TimeKey::kPcieLatency});
  for (size_t i = 0; i < device.config.memory.size(); ++i) {
    const MemorySpace& space = device.config.memory[i];
    const auto is_it = [&](int64_t number) { return device.config.memory_space(number) == &space; };
    if (is_it(record.from_space) || is_it(record.to_space))
      keys.add(unit_keys(device.config, memory_unit(i)));
  }
  for_each_key(device.config, keys, [&](std::string_view name, const std::string& path) {
    term.key(device, std::string(name), path);
  });
  const std::optional<OffloadCore> core =
      record.lane == Lane::kAsync ? OffloadCore::of(device.config) : std::nullopt;
  if (!core) return;
  for (const std::string_view key : core->keys())
    term.key(device, std::string(key), section_key(core->unit(), key));
}

/// From start to end, as other transfers let it.
Term run_term(const TransferTerms& transfer, const Device& device) {
  const TransferRecord& record = transfer.record;
  const bool at_once = record.start_instruction == record.done_instruction;
  Term term{fmt::format("{} {}", to_text(record.kind),
                        at_once ? "on the TensorCore" : "concurrent with the TensorCore"),
            "end - start = queue + start latency + alone + sharing",
            {},
            record.duration};
  term.fact("bytes", to_text(record.bytes), kModule);
  const std::string behind = record.queued.count() > 0 && transfer.behind.empty()
                                 ? "the run: others of its lane"
                                 : fmt::format("{}{}", kRun, transfer.behind.empty() ? "" : ": behind ") +
                                       names_text(transfer.behind);
  term.adds("queue", record.queued, behind);
  term.adds("start latency", record.latency, "launch, and memory's first and last bytes");
  term.adds("alone", record.alone);
  const Picoseconds sharing = transfer.sharing();
  if (sharing.count() > 0)
    term.adds("sharing", sharing,
              fmt::format("{}: HBM, with the TensorCore{}{}", kRun, transfer.beside.empty() ? "" : " and ",
                          names_text(transfer.beside)));
  term.part("hidden", record.hidden, kRun);
  term.part("exposed", record.exposed, kRun);
  add_copy_keys(term, record, device);
  if (!at_once) term.fact("waited for by", transfer.done.empty() ? "nothing" : transfer.done, kModule);
  return term;
}

}  // namespace

Picoseconds TransferTerms::sharing() const {
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

std::vector<TransferTerms> transfers_of(const Module& module, const OpTable& table,
                                        const Simulation& simulation, InstructionId id) {
  std::vector<TransferTerms> found;
  for (const TransferRecord& record : simulation.transfers)
    if (record.start_instruction == id || record.done_instruction == id ||
        (table[module[id].opcode].has(kCollective) && calls(module, record.start_instruction, id)))
      found.push_back(Finder(module, table, simulation).find(record));
  return found;
}

std::vector<Term> terms_of(const TransferTerms& transfer, const Device& device) {
  std::vector<Term> terms;
  for (const CollectiveTerms& one : transfer.collectives) {
    terms.push_back(collective_term(one, device));
    if (one.cost.network.count() > 0) terms.push_back(links_term(one, device));
    if (one.cost.driver != Unit::kNone) terms.push_back(driver_term(device, one.cost));
  }
  if (transfer.collectives.empty() && transfer.record.kind == TransferKind::kCollective)
    terms.push_back(hop_term(transfer.record, device));
  terms.push_back(run_term(transfer, device));
  return terms;
}

std::set<std::string, std::less<>> keys_of_transfers(const Simulation& simulation, const Device& device) {
  std::set<std::string, std::less<>> paths;
  const auto add = [&](const Term& term) {
    for (const TermInput& input : term.inputs)
      if (!input.key.empty()) paths.insert(input.key);
  };
  std::set<std::tuple<CollectiveKind, Unit, bool, bool, bool>> seen;  // these read the same keys
  for (const TransferRecord& record : simulation.transfers) {
    for (const CollectiveCost& cost : record.collectives()) {
      const bool sends = cost.network.count() > 0;
      if (!seen.emplace(cost.kind, cost.driver, is_within_chip(cost), sends, cost.launch.count() > 0).second)
        continue;
      const CollectiveTerms one{{}, {}, {}, cost, {}, simulation.slice.count > 1};
      add(collective_term(one, device));
      if (sends) add(links_term(one, device));
      if (cost.driver != Unit::kNone) add(driver_term(device, cost));
    }
    if (record.collectives().empty() && record.kind == TransferKind::kCollective)
      add(hop_term(record, device));
    add(run_term({record, {}, {}, {}, {}, {}}, device));
  }
  return paths;
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
