// Explanations as text and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "model/unit.h"
#include "report/explain.h"
#include "text/json.h"
#include "text/text_builder.h"

namespace hlosim {

namespace {

constexpr size_t kShownRunners = 4;

}  // namespace

std::string to_text(const Explanation& e) {
  std::string text;
  const TextBuilder print{text};
  print("{} = {} on {}: {} {}, bound by {}\n", e.instruction, e.opcode, e.device, to_text(e.cost.time()),
        e.executions > 0 ? "each time" : "by itself", e.bound_by);
  if (e.executions == 0) {
    print("  in {}: does not run on its own in this module\n", e.computation);
    for (size_t i = 0; i < std::min(e.run_by.size(), kShownRunners); ++i)
      print("  {} runs it\n", e.run_by[i]);
    if (e.run_by.size() > kShownRunners) print("  and {} more\n", e.run_by.size() - kShownRunners);
  } else {
    print("  in {}: {} {}, {} in all, waiting included\n", e.computation, e.executions,
          e.executions == 1 ? "execution" : "executions", to_text(e.in_run));
  }
  if (!e.given_by.empty()) print("  costed by {}\n", e.given_by);
  if (e.waited.count() > 0)
    print("  of it {} waiting for {}\n", to_text(e.waited),
          e.waited_for.empty() ? "transfers" : e.waited_for);
  if (e.shared.count() > 0)
    print("  of it {} as transfers share the memory, bound by {} then\n", to_text(e.shared), e.bound_in_run);
  if (e.loop)
    print("  {} iteration{} of {}{}\n", grouped(e.loop->trip_count), e.loop->trip_count == 1 ? "" : "s",
          to_text(e.loop->iteration), e.loop->known ? "" : "; how many isn't known: --while-trip-count");
  for (const Term& term : e.terms) {
    print("\n{:<44} {:>12}\n", term.name, term.amount.empty() ? to_text(term.value) : term.amount);
    size_t from = 0;
    while (from <= term.equation.size()) {
      const size_t end = std::min(term.equation.find('\n', from), term.equation.size());
      print("  {}\n", std::string_view(term.equation).substr(from, end - from));
      from = end + 1;
    }
    for (const TermInput& input : term.inputs) {
      print("    {:<24} {:<24} {}{}{}\n", input.name, input.value, input.key, input.key.empty() ? "" : "  ",
            input.source);
    }
  }
  if (const std::vector<KeySensitivity> keys = sensitivities(e.terms); !keys.empty()) {
    print("\nsensitivity: one percent of a key changes the time by\n");
    for (const auto& [key, share] : keys) print("    {:<24} {:.4g} %\n", key, share);
  }
  return printable(std::move(text));
}

namespace {

constexpr size_t kMostMembers = 4096;  // listed one by one

Json term_json(const Term& term) {
  Json numbers = Json::array();
  for (const TermInput& input : term.inputs)
    numbers.push_back({{"name", input.name},
                       {"value", input.value},
                       {"key", input.key.empty() ? Json(nullptr) : Json(input.key)},
                       {"adds_ps", input.adds ? Json(std::llround(*input.adds)) : Json(nullptr)},
                       {"source", input.source}});
  return {{"name", term.name},
          {"formula", term.equation},
          {"result_ps", term.value.count()},
          {"amount", term.amount.empty() ? Json(nullptr) : Json(term.amount)},
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

Json collective_json(const CollectiveTerms& one) {
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
      {"sent_scalar_bytes", cost.scalar_sent.count()},
      {"launch_ps", cost.launch.count()},
      {"network_ps", cost.network.count()},
      {"by_bytes_ps", cost.by_bytes.count()},
      {"by_hops_ps", cost.by_hops.count()},
      {"hops", cost.hops},
      {"link_bytes_per_second", cost.link.count()},
      {"driver", cost.driver == Unit::kNone ? Json(nullptr) : Json(std::string(unit_row(cost.driver).name))},
      {"driving_ps", cost.driving.count()}};
}

Json transfer_json(const TransferTerms& transfer) {
  const TransferRecord& record = transfer.record;
  Json collectives = Json::array();
  for (const CollectiveTerms& one : transfer.collectives) collectives.push_back(collective_json(one));
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
  json["shared_ps"] = e.shared.count();
  json["bound_by_in_run"] = e.shared.count() > 0 ? e.bound_in_run : e.bound_by;
  json["run_by"] = e.run_by;
  json["iterations"] = e.loop ? Json(e.loop->trip_count) : Json(nullptr);
  json["iteration_ps"] = e.loop ? Json(e.loop->iteration.count()) : Json(nullptr);
  json["cost_given_by"] = e.given_by.empty() ? Json(nullptr) : Json(e.given_by);
  json["terms"] = Json::array();
  for (const Term& term : e.terms) json["terms"].push_back(term_json(term));
  json["sensitivities"] = Json::array();
  for (const auto& [key, share] : sensitivities(e.terms))
    json["sensitivities"].push_back({{"key", key}, {"share", share}});
  json["transfers"] = Json::array();
  for (const TransferTerms& transfer : e.transfers) json["transfers"].push_back(transfer_json(transfer));
  return json.dump(2) + "\n";
}

}  // namespace hlosim
