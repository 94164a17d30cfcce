// Copies, collectives and other transfers of a report. Amounts are those of one execution.
#include "report/report_members.h"

namespace hlosim {
namespace {

/// Members of all transfers, then those of one kind.
template <class Row>
std::vector<JsonMember<Row>> with_members_of_all(std::initializer_list<JsonMember<Row>> own) {
  std::vector<JsonMember<Row>> members = {
      {"start", "name of the start, or of the synchronous instruction",
       [](const Row& one) { return one.row.start_name; }},
      {"done", "null: there is none", [](const Row& one) { return text_or_null(one.row.done_name); }},
      {"line", "", [](const Row& one) { return positive_or_null(one.row.line); }},
      {"executions", "", [](const Row& one) { return one.row->executions; }},
      {"start_ps", "issued, first execution", [](const Row& one) { return one.row->start; }},
      {"end_ps", "finished, first execution", [](const Row& one) { return one.row->end; }},
      {"duration_ps", "", [](const Row& one) { return one.row->duration; }},
      {"hidden_ps", "overlaps with other work", [](const Row& one) { return one.row->hidden; }},
      {"exposed_ps", "the TensorCore is idle for it", [](const Row& one) { return one.row->exposed; }},
      {"queued_ps", "time in the queue of its lane, before it begins",
       [](const Row& one) { return one.row->queued; }},
      {"queued_behind", "start of the transfer ahead of it in the queue",
       [](const Row& one) { return text_or_null(one.row.ahead_name); }},
      {"alone_ps", "its duration without contention for memory",
       [](const Row& one) { return one.row->alone; }}};
  members.insert(members.end(), own.begin(), own.end());
  return members;
}

template <class Value>
std::optional<Value> of_cost(const CollectiveRow& one, Value CollectiveCost::*member) {
  return one.row->collective ? std::optional((*one.row->collective).*member) : std::nullopt;
}

bool is_driven(const CollectiveRow& one) {
  return one.row->collective && one.row->collective->driver != Unit::kNone;
}

template <class Row>
std::vector<Row> rows_of(const Report& report, bool (*wanted)(TransferKind)) {
  std::vector<Row> rows;
  for (const ReportTransfer& row : report.transfers)
    if (wanted(row->kind)) rows.push_back({row});
  return rows;
}

}  // namespace

std::span<const JsonMember<CopyRow>> json_members(const CopyRow*) {
  using Row = const CopyRow&;
  static const auto kMembers = with_members_of_all<CopyRow>(
      {{"bytes", "", [](Row one) { return one.row->bytes; }},
       {"from", "", [](Row one) { return one.row.from_space_name; }},
       {"to", "", [](Row one) { return one.row.to_space_name; }},
       {"cross_program", "the run before can do it", [](Row one) { return one.row->cross_program; }}});
  return kMembers;
}

std::span<const JsonMember<CollectiveCost>> json_members(const CollectiveCost*) {
  using Row = const CollectiveCost&;
  static constexpr JsonMember<CollectiveCost> kMembers[] = {
      {"kind", "", [](Row one) { return to_text(one.kind); }},
      {"payload_bytes", "of one member, padded", [](Row one) { return one.payload; }},
      {"sent_bytes", "by one member: arrays, without padding", [](Row one) { return one.sent; }},
      {"sent_scalar_bytes", "", [](Row one) { return one.scalar_sent; }},
      {"group_size", "", [](Row one) { return one.group_size; }},
      {"group_count", "", [](Row one) { return one.group_count; }},
      {"algorithm", "", [](Row one) { return text_or_null(one.algorithm); }}};
  return kMembers;
}

std::span<const JsonMember<CollectiveRow>> json_members(const CollectiveRow*) {
  using Row = const CollectiveRow&;
  using Cost = CollectiveCost;
  static const auto kMembers = with_members_of_all<CollectiveRow>(
      {{"payload_bytes", "of one member, padded", [](Row one) { return one.row->bytes; }},
       {"logical_payload_bytes", "", [](Row one) { return of_cost(one, &Cost::logical_payload); }},
       {"scalar_payload_bytes", "", [](Row one) { return of_cost(one, &Cost::scalar_payload); }},
       {"sent_bytes", "by one member: arrays, without padding",
        [](Row one) { return of_cost(one, &Cost::sent); }},
       {"sent_scalar_bytes", "", [](Row one) { return of_cost(one, &Cost::scalar_sent); }},
       {"group_size", "",
        [](Row one) { return positive_or_null(of_cost(one, &Cost::group_size).value_or(0)); }},
       {"group_count", "",
        [](Row one) { return positive_or_null(of_cost(one, &Cost::group_count).value_or(0)); }},
       {"launch_ps", "", [](Row one) { return of_cost(one, &Cost::launch); }},
       {"network_ps", "", [](Row one) { return of_cost(one, &Cost::network); }},
       {"network_bound_ps",
        "no schedule of the collective on these links is faster; null where no bound is known",
        [](Row one) {
          return positive_or_null(of_cost(one, &Cost::bound).value_or(Picoseconds(0)).count());
        }},
       {"latency_bound", "", [](Row one) { return of_cost(one, &Cost::latency_bound); }},
       {"algorithm", "",
        [](Row one) {
          return one.row->collective ? text_or_null(one.row->collective->algorithm) : std::nullopt;
        }},
       {"driver", "the unit that drives it concurrently with the TensorCore; absent: none",
        [](Row one) {
          return IfAny<std::string_view>{
              is_driven(one) ? std::optional(unit_row(one.row->collective->driver).name) : std::nullopt};
        }},
       {"driving_ps", "that unit is busy for it",
        [](Row one) {
          return IfAny<Picoseconds>{is_driven(one) ? of_cost(one, &Cost::driving) : std::nullopt};
        }},
       {"wrapped", "each of several that one instruction runs together; absent: it runs one", [](Row one) {
          return IfAny<std::vector<Cost>>{one.row->wrapped.empty() ? std::nullopt
                                                                   : std::optional(one.row->wrapped)};
        }}});
  return kMembers;
}

std::span<const JsonMember<OtherTransferRow>> json_members(const OtherTransferRow*) {
  using Row = const OtherTransferRow&;
  static const auto kMembers =
      with_members_of_all<OtherTransferRow>({{"kind", "", [](Row one) { return one.row->kind; }},
                                             {"bytes", "", [](Row one) { return one.row->bytes; }}});
  return kMembers;
}

std::vector<CopyRow> copy_rows(const Report& report) {
  return rows_of<CopyRow>(report, [](TransferKind kind) { return kind == TransferKind::kCopy; });
}

std::vector<CollectiveRow> collective_rows(const Report& report) {
  return rows_of<CollectiveRow>(report, [](TransferKind kind) { return kind == TransferKind::kCollective; });
}

std::vector<OtherTransferRow> other_transfer_rows(const Report& report) {
  return rows_of<OtherTransferRow>(report, [](TransferKind kind) {
    return kind != TransferKind::kCopy && kind != TransferKind::kCollective;
  });
}

}  // namespace hlosim
