#include "report/report_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "report/figures.h"
#include "support/estimated.h"
#include "support/folders.h"

namespace hlosim {
namespace {

using ParsedJson = nlohmann::json;
using test::Estimated;
using test::estimated;

// The part of JSON Schema that reports/report.schema.json uses, stricter: members it doesn't name are errors.
class Schema {
 public:
  explicit Schema(ParsedJson schema) : schema_(std::move(schema)) {}

  std::vector<std::string> findings(const ParsedJson& value) {
    findings_.clear();
    check(schema_, value, "$");
    return findings_;
  }

 private:
  void complain(const std::string& path, const std::string& what) { findings_.push_back(path + ": " + what); }

  static bool has_type(const std::string& type, const ParsedJson& value) {
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    return type == value.type_name();  // object, array, string, boolean, null
  }

  void check(const ParsedJson& schema, const ParsedJson& value, const std::string& path) {
    static const std::set<std::string> kKnown = {
        "$schema", "title", "description", "type",    "properties",          "required",
        "items",   "enum",  "const",       "minimum", "additionalProperties"};
    for (const auto& [key, ignored] : schema.items())
      EXPECT_TRUE(kKnown.count(key)) << "this test doesn't know " << key;
    if (schema.contains("const") && schema["const"] != value) complain(path, "not " + schema["const"].dump());
    if (schema.contains("enum") &&
        std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end())
      complain(path, value.dump() + " is not in the list");
    if (schema.contains("type")) {
      const ParsedJson types =
          schema["type"].is_array() ? schema["type"] : ParsedJson::array({schema["type"]});
      const bool fits = std::any_of(types.begin(), types.end(),
                                    [&](const ParsedJson& type) { return has_type(type, value); });
      if (!fits)
        return complain(path, "is a " + std::string(value.type_name()) + ", expected " + types.dump());
    }
    if (schema.contains("minimum") && value.is_number() && value < schema["minimum"])
      complain(path, "is too small");
    if (schema.contains("items"))
      for (size_t i = 0; i < value.size(); ++i)
        check(schema["items"], value[i], path + "[" + std::to_string(i) + "]");
    if (schema.contains("properties") && value.is_object()) check_members(schema, value, path);
    if (schema.contains("additionalProperties") && value.is_object())
      for (const auto& [key, member] : value.items())
        check(schema["additionalProperties"], member, path + "." + key);
  }

  void check_members(const ParsedJson& schema, const ParsedJson& value, const std::string& path) {
    for (const ParsedJson& name : schema["required"])
      if (!value.contains(name)) complain(path, "lacks " + name.dump());
    for (const auto& [key, member] : value.items()) {
      if (!schema["properties"].contains(key))
        complain(path, "has an unknown member " + key);
      else
        check(schema["properties"][key], member, path + "." + key);
    }
  }

  ParsedJson schema_;
  std::vector<std::string> findings_;
};

ParsedJson schema_file() {
  std::ifstream file(test::source_folder() / "reports/report.schema.json");
  EXPECT_TRUE(file);
  return ParsedJson::parse(file, nullptr, false);
}

ParsedJson json_of(const Report& report) {
  return ParsedJson::parse(to_json(report, "1.2.3"), nullptr, false);
}

// HLOSIM_UPDATE writes the file anew.
TEST(ReportJson, SchemaFileIsThatOfTheProgram) {
  const std::filesystem::path file = test::source_folder() / "reports/report.schema.json";
  if (std::getenv("HLOSIM_UPDATE")) std::ofstream(file) << report_json_schema();
  EXPECT_EQ(test::file_text(file), report_json_schema());
}

TEST(ReportJson, FollowsTheSchema) {
  Schema schema(schema_file());
  for (const std::string& device : builtin_devices())
    for (const std::string_view text :
         {test::kManyThings, std::string_view("HloModule m\nENTRY e { ROOT t = () tuple() }"),
          std::string_view(
              "HloModule m\nENTRY e { a = f32[4]{0:S(9)} parameter(0) ROOT b = f32[4] negate(a) }")}) {
      const Estimated e = estimated(text, device, {{"host.chips", "3"}});
      EXPECT_THAT(schema.findings(json_of(e.report)), testing::IsEmpty()) << device;
      const Metrics figures = make_figures(e.report, *e.module, op_table(), e.estimate);
      EXPECT_THAT(schema.findings(ParsedJson::parse(to_json(e.report, figures, "1.2.3"), nullptr, false)),
                  testing::IsEmpty())
          << device;
    }
}

TEST(ReportJson, WhatFewReportsHaveFollowsTheSchemaToo) {
  Schema schema(schema_file());
  Estimated e = estimated(test::kManyThings, "v5e");
  e.report.spread = SpreadReport{"x=2", false, {AxisUse{}}, {ReportResharding{}}, {ReplicatedReport{}}};
  e.report.flags_not_given.push_back({"flag", "key", "1", "2", std::nullopt});
  std::vector<TransferRecord> records;
  for (const ReportTransfer& row : e.report.transfers) records.push_back(*row.record);
  for (size_t i = 0; i < records.size(); ++i) {
    records[i].wrapped.assign(2, CollectiveCost{});
    if (records[i].collective) records[i].collective->driver = Unit::kHost;
    e.report.transfers[i].record = &records[i];
  }
  const std::vector<ReportAdvice> advice(1);
  const ParsedJson json = ParsedJson::parse(to_json(e.report, "1.2.3", &advice), nullptr, false);
  EXPECT_THAT(schema.findings(json), testing::IsEmpty());
  for (const char* list : {"collectives", "reshardings", "replicated"})
    EXPECT_EQ(json["mesh"][list].size(), 1u);
  EXPECT_EQ(json["collectives"][0]["wrapped"].size(), 2u);
  EXPECT_EQ(json["collectives"][0]["driver"], "host");
  EXPECT_EQ(json["advice"].size(), 1u);
}

TEST(ReportJson, SchemaFindsWhatIsWrong) {
  Schema schema(schema_file());
  ParsedJson json = json_of(estimated(test::kManyThings, "v5e").report);
  json["schema_version"] = 2;
  json["time"]["total_ps"] = "long";
  json["traffic"].erase("hbm_bytes");
  json["instructions"][0]["provenance"] = "hearsay";
  json["instructions"][1]["more"] = 1;
  json["time"]["cycles"] = -1;
  EXPECT_EQ(schema.findings(json).size(), 6u);
}

TEST(ReportJson, SaysWhatTheReportSays) {
  const Estimated e = estimated(test::kManyThings, "v5e");
  const ParsedJson json = json_of(e.report);
  EXPECT_EQ(json["tool"]["version"], "1.2.3");
  EXPECT_EQ(json["time"]["total_ps"], e.report.totals().makespan.count());
  EXPECT_EQ(json["traffic"]["hbm_bytes"], e.report.hbm_traffic().total().count());
  EXPECT_EQ(json["instructions"].size(), e.report.instructions.size());
  EXPECT_EQ(json["copies"].size(), 1u);
  EXPECT_EQ(json["copies"][0]["bytes"], 256 * 128 * 4);
  EXPECT_EQ(json["copies"][0]["to"], "vmem");
  EXPECT_EQ(json["collectives"].size(), 1u);
  EXPECT_EQ(json["collectives"][0]["sent_bytes"], 2 * 3 * 256 * 128 * 4 / 4);
  EXPECT_EQ(json["loops"][0]["trip_count"], 5);
  EXPECT_EQ(json["work"]["unknown_instructions"], 1);
  for (const ParsedJson& row : json["instructions"]) {
    if (row["name"] == "nobody_knows") {
      EXPECT_TRUE(row["flops"].is_null());
    }
  }
  for (const ParsedJson& space : json["memory"]["spaces"]) {
    if (space["name"] == "vmem") {
      EXPECT_EQ(space["peak_bytes"], 256 * 128 * 4);
      EXPECT_EQ(space["number"], 1);
    }
  }
}

TEST(ReportCsv, HasTheColumnsInEveryRow) {
  const Estimated e = estimated(test::kManyThings, "v5e");
  const std::string csv = to_csv({&e.report, 1});
  const auto columns = [](std::string_view line) { return std::count(line.begin(), line.end(), ','); };
  size_t rows = 0;
  int64_t expected = 0;
  for (size_t begin = 0; begin < csv.size(); ++rows) {
    const size_t end = csv.find("\r\n", begin);
    ASSERT_NE(end, std::string::npos);
    const std::string_view line = std::string_view(csv).substr(begin, end - begin);
    if (rows == 0) expected = columns(line);
    EXPECT_EQ(columns(line), expected) << line;  // no name here has a comma
    EXPECT_NE(line.back(), ',');
    begin = end + 2;
  }
  EXPECT_EQ(rows, e.report.instructions.size() + 1);
  EXPECT_THAT(csv, testing::HasSubstr("\r\nmany,nobody_knows,custom-call,main,"));
  EXPECT_THAT(csv, testing::HasSubstr(",default,,,,"));  // what isn't known is empty
}

TEST(ReportCsv, QuotesWhatNeedsIt) {
  Report report;
  report.traffic_names = {"hbm"};
  report.traffic_names.resize(kMaxMemorySpaces + 1);
  report.unit_names.assign(static_cast<size_t>(Unit::kNone) + 1, "none");
  report.module_name = "a,b \"c\"";
  Simulation simulation;
  simulation.instructions.resize(1);
  simulation.instructions[0].id = InstructionId(0);
  simulation.costs = std::make_shared<const InstructionCosts>(1);
  report.simulation = std::make_shared<const Simulation>(std::move(simulation));
  report.instructions.push_back({{&report.simulation->instructions[0]}});
  EXPECT_THAT(to_csv({&report, 1}), testing::HasSubstr("\r\n\"a,b \"\"c\"\"\",,,"));
}

}  // namespace
}  // namespace hlosim
