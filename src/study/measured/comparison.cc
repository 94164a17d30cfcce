#include "measured/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "base/saturating.h"
#include "profile/operation_facts.h"

namespace hlosim {
namespace {

Bytes traffic_of(const InstructionCost& cost) {
  Bytes sum{};
  for (const Traffic& one : cost.traffic) sum += one.read + one.written;
  return sum;
}

std::vector<SimulatedOperation> simulations_of(const Estimate& estimate, const Report& report,
                                               const OpTable& table) {
  const Module& module = *estimate.module;
  const OperationFacts facts(module, table);
  std::vector<SimulatedOperation> rows;
  std::map<InstructionId, Picoseconds> starts;
  for (const ReportInstruction& record : report.instructions) {
    starts[record->id] = record->start;
    const OpDef& def = table[module[record->id].opcode];
    if (record->executions == 0) continue;
    if (record->time.count() == 0 && !def.has(kAsyncStart) && !def.has(kAsyncDone)) continue;
    SimulatedOperation row{std::string(record.name),   std::string(record.opcode),
                           facts.shape(record->id),    std::string(record.op_name),
                           facts.category(record->id), report.unit_name(record->bound_by)};
    row.text = facts.text(record->id);
    row.executions = record->executions;
    row.self_time = record->self_time;
    const InstructionCost& cost = report.cost(record);
    if (cost.provenance != Provenance::kDefault)
      row.flops = saturating_add(cost.flops.count(), cost.vector_operations);
    row.bytes = traffic_of(cost).count();
    rows.push_back(std::move(row));
  }
  for (const ReportTransfer& transfer : report.transfers) {
    if (!transfer->done_instruction.valid() || transfer->done_instruction == transfer->start_instruction)
      continue;
    SimulatedOperation row;
    row.name = std::string(transfer.start_name);
    row.opcode = std::string(to_text(module[transfer->start_instruction].opcode));
    row.shape = facts.shape(transfer->start_instruction);
    row.category = facts.category(transfer->start_instruction);
    row.bound_by = std::string(to_text(transfer->lane));
    row.beside = true;
    row.executions = transfer->executions;
    const auto begun = starts.find(transfer->start_instruction);
    const Picoseconds start = begun == starts.end() ? transfer->start : begun->second;
    row.self_time = Picoseconds(saturating_multiply((transfer->done - start).count(), transfer->executions));
    row.bytes = transfer->bytes.count();
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Those on the TensorCore by where they come from in the program, as tables of its operations have them.
std::vector<SimulatedOperation> by_origin(const std::vector<SimulatedOperation>& rows) {
  std::map<std::string_view, size_t> places;
  std::vector<SimulatedOperation> sums;
  for (const SimulatedOperation& row : rows) {
    if (row.beside || row.op_name.empty()) continue;
    const auto [at, is_new] = places.try_emplace(row.op_name, sums.size());
    if (is_new) {
      sums.push_back(row);
      sums.back().name = row.op_name;
      sums.back().opcode.clear(), sums.back().shape.clear(), sums.back().text.clear();
      sums.back().flops.reset(), sums.back().bytes.reset();
      continue;
    }
    SimulatedOperation& sum = sums[at->second];
    sum.executions = saturating_add(sum.executions, row.executions);
    sum.self_time = Picoseconds(saturating_add(sum.self_time.count(), row.self_time.count()));
  }
  return sums;
}

/// Which of its FLOPs and bytes a device with these peaks would need longer for; empty: not known.
std::string bound_of(const ProfiledOperation& measured, const Profile& profile) {
  if (!measured.bound_by.empty()) return measured.bound_by;
  if (!profile.peak_flops || !profile.peak_bandwidth || measured.beside) return {};
  const double compute = static_cast<double>(measured.flops.value_or(0)) / *profile.peak_flops;
  const double memory = static_cast<double>(measured.bytes.value_or(0)) / *profile.peak_bandwidth;
  if (compute == 0 && memory == 0) return {};
  return compute > memory ? "Compute" : "HBM";
}

void sort_rows(std::vector<ComparedOperation>& rows) {
  const auto place = [](const ComparedOperation& row) {
    const int part = row.measured && row.simulated ? 0 : row.measured ? 1 : 2;
    const Picoseconds amount = part == 0   ? Picoseconds(std::abs(row.off().count()))
                               : part == 1 ? row.measured->self_time
                                           : row.simulated->self_time;
    return std::pair(part, -amount.count());
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const ComparedOperation& a, const ComparedOperation& b) {
    return place(a) < place(b);
  });
}

/// As often as it was measured; the rest of the division counts, so that equal times are equal.
Picoseconds simulated_total(const ComparedOperation& row) {
  const int64_t time = row.simulated->self_time.count(),
                executions = std::max<int64_t>(row.simulated->executions, 1),
                occurrences = row.measured->occurrences;
  return Picoseconds(saturating_add(saturating_multiply(time / executions, occurrences),
                                    saturating_multiply(time % executions, occurrences) / executions));
}

void add_categories(ComparedProgram& program) {
  std::map<std::string, ComparedCategory> sums;
  for (const ComparedOperation& row : program.operations) {
    if (!row.measured || row.measured->beside || !row.simulated) continue;
    const std::string& name =
        row.measured->category.empty() ? row.simulated->category : row.measured->category;
    ComparedCategory& sum = sums[name];
    sum.name = name;
    ++sum.operations;
    sum.measured += row.measured->self_time;
    sum.simulated = Picoseconds(saturating_add(sum.simulated.count(), simulated_total(row).count()));
  }
  for (auto& [name, sum] : sums) program.categories.push_back(std::move(sum));
  std::stable_sort(
      program.categories.begin(), program.categories.end(),
      [](const ComparedCategory& a, const ComparedCategory& b) { return a.measured > b.measured; });
}

}  // namespace

std::optional<double> ComparedOperation::ratio() const {
  if (!measured || !simulated || measured->occurrences == 0 || simulated->mean().count() == 0)
    return std::nullopt;
  return static_cast<double>(measured->self_time.count()) / static_cast<double>(measured->occurrences) /
         (static_cast<double>(simulated->self_time.count()) / static_cast<double>(simulated->executions));
}

Picoseconds ComparedOperation::off() const {
  if (!measured || !simulated) return Picoseconds(0);
  return measured->self_time - simulated_total(*this);
}

Picoseconds ComparedProgram::measured_operations() const {
  Picoseconds sum{};
  for (const ProfiledOperation& one : program->operations)
    if (!one.beside) sum = Picoseconds(saturating_add(sum.count(), one.self_time.count()));
  return sum;
}

Picoseconds ComparedProgram::matched_operations() const {
  Picoseconds sum{};
  for (const ComparedCategory& one : categories)
    sum = Picoseconds(saturating_add(sum.count(), one.measured.count()));
  return sum;
}

Picoseconds ComparedProgram::matched_simulated() const {
  Picoseconds sum{};
  for (const ComparedCategory& one : categories)
    sum = Picoseconds(saturating_add(sum.count(), one.simulated.count()));
  return sum;
}

ComparedProgram compare_program(const ProfiledProgram& program, const Profile& profile,
                                const Estimate& estimate, const Report& report, const OpTable& table) {
  ComparedProgram compared;
  compared.program = &program;
  compared.device = report.device_name;
  compared.simulated = report.totals().makespan;
  compared.simulations = simulations_of(estimate, report, table);
  if (profile.form == "framework_op_stats") compared.simulations = by_origin(compared.simulations);
  for (const ReportAssumption& one : report.assumptions) compared.assumptions.push_back(one.text);
  const std::vector<int> match = match_operations(program, compared.simulations);
  std::vector<bool> taken(compared.simulations.size());
  for (size_t i = 0; i < match.size(); ++i) {
    ComparedOperation row{&program.operations[i], nullptr, false, bound_of(program.operations[i], profile)};
    if (match[i] >= 0) {
      row.simulated = &compared.simulations[static_cast<size_t>(match[i])];
      row.renamed = row.simulated->name != row.measured->name;
      taken[static_cast<size_t>(match[i])] = true;
    }
    compared.operations.push_back(std::move(row));
  }
  for (size_t i = 0; i < taken.size(); ++i)
    if (!taken[i]) compared.operations.push_back({nullptr, &compared.simulations[i], false, {}});
  sort_rows(compared.operations);
  add_categories(compared);
  return compared;
}

ComparedProgram measured_program(const ProfiledProgram& program, const Profile& profile, std::string why) {
  ComparedProgram compared;
  compared.program = &program;
  compared.not_simulated = std::move(why);
  for (const ProfiledOperation& one : program.operations)
    compared.operations.push_back({&one, nullptr, false, bound_of(one, profile)});
  sort_rows(compared.operations);
  return compared;
}

}  // namespace hlosim
