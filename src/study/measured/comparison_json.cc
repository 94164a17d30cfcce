#include <fmt/format.h>

#include <iterator>

#include "measured/comparison_output.h"
#include "text/escape.h"
#include "text/json.h"

namespace hlosim {
namespace {

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json measured_json(const ProfiledOperation& one) {
  return {{"occurrences", one.occurrences},
          {"time_ps", one.time.count()},
          {"self_time_ps", one.self_time.count()},
          {"mean_ps", one.mean().count()},
          {"flops", or_null(one.flops)},
          {"model_flops", or_null(one.model_flops)},
          {"bytes", or_null(one.bytes)}};
}

Json simulated_json(const SimulatedOperation& one) {
  return {{"name", one.name},
          {"executions", one.executions},
          {"self_time_ps", one.self_time.count()},
          {"mean_ps", one.mean().count()},
          {"bound_by", one.bound_by},
          {"flops", or_null(one.flops)},
          {"bytes", or_null(one.bytes)}};
}

Json operation_json(const ComparedOperation& row) {
  const bool beside = row.measured ? row.measured->beside : row.simulated->beside;
  Json json = {{"name", row.name()}, {"beside", beside}, {"renamed", row.renamed}};
  json["core"] = Json::text_or_null(row.measured ? row.measured->core : "");
  const bool has_category = row.measured && !row.measured->category.empty();
  json["category"] = has_category    ? Json(row.measured->category)
                     : row.simulated ? Json(row.simulated->category)
                                     : Json(nullptr);
  json["op_name"] = Json::text_or_null(row.measured ? row.measured->op_name : row.simulated->op_name);
  json["source"] = Json::text_or_null(row.measured ? row.measured->source : "");
  json["bound_by"] = Json::text_or_null(row.bound_by);
  json["measured"] = row.measured ? measured_json(*row.measured) : Json(nullptr);
  json["simulated"] = row.simulated ? simulated_json(*row.simulated) : Json(nullptr);
  json["ratio"] = or_null(row.ratio());
  json["off_ps"] = row.measured && row.simulated ? Json(row.off().count()) : Json(nullptr);
  return json;
}

Json program_json(const ComparedProgram& one) {
  const ProfiledProgram& program = *one.program;
  // A number beyond 2^53 would not survive JSON's readers.
  Json json = {{"name", program.name},
               {"id", program.id ? Json(fmt::format("{}", *program.id)) : Json(nullptr)},
               {"runs", program.runs},
               {"time_ps", program.time.count()},
               {"shortest_ps", program.shortest.count()},
               {"longest_ps", program.longest.count()},
               {"operations_ps", one.measured_operations().count()},
               {"matched_ps", one.matched_operations().count()},
               {"matched_simulated_ps", one.matched_simulated().count()},
               {"not_simulated", Json::text_or_null(one.not_simulated)},
               {"device", Json::text_or_null(one.device)},
               {"simulated_ps", one.not_simulated.empty() ? Json(one.simulated.count()) : Json(nullptr)},
               {"categories", Json::array()},
               {"operations", Json::array()},
               {"assumptions", one.assumptions}};
  for (const ComparedCategory& sum : one.categories)
    json["categories"].push_back({{"name", sum.name},
                                  {"operations", sum.operations},
                                  {"measured_ps", sum.measured.count()},
                                  {"simulated_ps", sum.simulated.count()}});
  for (const ComparedOperation& row : one.operations) json["operations"].push_back(operation_json(row));
  return json;
}

std::string cell(const std::optional<int64_t>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

}  // namespace

std::string to_json(const ProfileComparison& comparison, std::string_view tool_version) {
  const Profile& profile = *comparison.profile;
  Json json = {{"schema_version", 1},
               {"tool", {{"name", "hlosim"}, {"version", tool_version}}},
               {"profile",
                {{"file", profile.file},
                 {"form", profile.form},
                 {"device_type", Json::text_or_null(profile.device_type)},
                 {"devices", profile.devices},
                 {"steps", Json::array()},
                 {"notes", profile.notes}}},
               {"programs", Json::array()}};
  for (const ProfiledStep& step : profile.steps)
    json["profile"]["steps"].push_back(
        {{"name", step.name}, {"occurrences", step.occurrences}, {"time_ps", step.time.count()}});
  for (const ComparedProgram& one : comparison.programs) json["programs"].push_back(program_json(one));
  return json.dump(2) + "\n";
}

std::string to_csv(const ProfileComparison& comparison) {
  std::string out =
      "program,program_id,operation,simulated_operation,category,beside,occurrences,measured_ps,measured_"
      "mean_ps,"
      "simulated_mean_ps,ratio,off_ps,measured_bound_by,simulated_bound_by,measured_flops,simulated_flops,"
      "measured_bytes,simulated_bytes\r\n";
  const auto to = std::back_inserter(out);
  for (const ComparedProgram& program : comparison.programs)
    for (const ComparedOperation& row : program.operations) {
      const ProfiledOperation* measured = row.measured;
      const SimulatedOperation* simulated = row.simulated;
      const std::optional<double> ratio = row.ratio();
      fmt::format_to(to, "{},{},{},{},{},{},", csv_field(program.program->name),
                     program.program->id ? fmt::format("{}", *program.program->id) : "",
                     csv_field(measured ? measured->name : ""), csv_field(simulated ? simulated->name : ""),
                     csv_field(measured && !measured->category.empty() ? measured->category
                               : simulated                             ? simulated->category
                                                                       : ""),
                     measured ? measured->beside : simulated->beside);
      if (measured)
        fmt::format_to(to, "{},{},{},", measured->occurrences, measured->self_time.count(),
                       measured->mean().count());
      else
        fmt::format_to(to, ",,,");
      fmt::format_to(to, "{},{},{},{},{},{},{},{},{}\r\n",
                     simulated ? fmt::format("{}", simulated->mean().count()) : "",
                     ratio ? fmt::format("{:.6g}", *ratio) : "",
                     measured && simulated ? fmt::format("{}", row.off().count()) : "",
                     csv_field(row.bound_by), csv_field(simulated ? simulated->bound_by : ""),
                     measured ? cell(measured->flops) : "", simulated ? cell(simulated->flops) : "",
                     measured ? cell(measured->bytes) : "", simulated ? cell(simulated->bytes) : "");
    }
  return out;
}

}  // namespace hlosim
