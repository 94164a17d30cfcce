// What continuous integration reads: JUnit XML, SARIF, GitHub's workflow commands.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/file_path.h"
#include "base/text.h"
#include "study/gate.h"
#include "text/escape.h"
#include "text/json.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

/// Of a workflow command: `%`, line ends, and in properties `:` and `,` are escaped. It stands in a log, too.
std::string command_text(std::string text, bool property) {
  std::string out;
  for (const char c : printable(std::move(text))) {
    if (c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ',')))
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out;
}

/// The line to look at: that of the worst instruction that has one, else the module's first. 0: the file is
/// none of lines.
int64_t line_of(const GateModule& module, const GateRow* row) {
  if (row)
    for (const Culprit& culprit : row->culprits)
      if (culprit.line > 0) return culprit.line;
  return module.run->figures.line;
}

/// As the repository's root calls it; what lies elsewhere stays as it is.
std::string from_root(const GateResult& result, const std::string& path) {
  namespace fs = std::filesystem;
  if (result.root.empty() || path.empty() || path == "-") return path;
  std::error_code failed;
  const fs::path whole = without_detours(fs::absolute(path, failed));
  // A link in the repository is a file of it, wherever it points to.
  const std::pair<fs::path, fs::path> ways[] = {
      {result.root, whole},
      {without_links(result.root), without_links(whole.parent_path()) / whole.filename()}};
  for (const auto& [root, file] : ways) {
    const fs::path below = file.lexically_relative(root);
    if (!below.empty() && std::find(below.begin(), below.end(), "..") == below.end())
      return below.generic_string();
  }
  return path;
}

std::string because_of(const GateModule& module, const GateRow& row) {
  std::string text;
  for (const Culprit& culprit : row.culprits)
    text += fmt::format("\n{} {}: {}{}{}", culprit.change, culprit.kind, culprit.name,
                        culprit.line > 0 ? fmt::format(" (line {})", culprit.line) : "",
                        culprit.reason.empty() ? "" : "; " + culprit.reason);
  if (const std::string advice = advice_text(module, row); !advice.empty()) text += "\n" + advice;
  return text;
}

std::string title_of(const GateModule& module, std::string_view what) {
  return fmt::format("{}: {} on {}", what, module.run->figures.module_name, module.run->device);
}

/// A module without a verdict, and how bad that is.
GatePolicy policy_of(const GateResult& result, const GateModule& module) {
  return module.before ? result.on_incomparable : result.on_new;
}
bool is_unjudged(const GateModule& module) { return !module.reason.empty(); }

constexpr std::string_view kGone = "the baseline has it, but it is no longer requested";

// ── JUnit ──

struct Counts {
  size_t tests = 0, failures = 0, errors = 0, skipped = 0;
};

std::string junit_case(const GateResult& result, const GateModule& module, const GateRow& row,
                       Counts& counts) {
  ++counts.tests;
  std::string out = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"0\"",
                                attribute_escaped(module.run->title()), attribute_escaped(row.metric.name));
  const std::string message = attribute_escaped(row_text(row));
  if (row.verdict == Verdict::kRegressed) {
    ++counts.failures;
    return out +
           fmt::format(">\n      <failure message=\"{}\" type=\"regression\">{}</failure>\n    </testcase>\n",
                       message, attribute_escaped(row_text(row) + because_of(module, row)));
  }
  if (row.verdict == Verdict::kNew || row.verdict == Verdict::kNotComparable) {
    const std::string reason = attribute_escaped(module.reason);
    if (policy_of(result, module) != GatePolicy::kFail) {
      ++counts.skipped;
      return out + fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", reason);
    }
    ++counts.errors;
    return out + fmt::format(">\n      <error message=\"{}\" type=\"{}\"/>\n    </testcase>\n", reason,
                             to_text(row.verdict));
  }
  return out + "/>\n";
}

/// Pass: nothing to say.
std::string junit_gone(const GateResult& result, const GateGone& gone, Counts& counts) {
  if (result.on_gone == GatePolicy::kPass) return {};
  ++counts.tests;
  const bool fails = result.on_gone == GatePolicy::kFail;
  ++(fails ? counts.failures : counts.skipped);
  return fmt::format(
      "    <testcase classname=\"{}\" name=\"gone\" time=\"0\">\n      <{} message=\"{}\"{}/>\n    "
      "</testcase>\n",
      attribute_escaped(gone.name), fails ? "failure" : "skipped", kGone, fails ? " type=\"gone\"" : "");
}

std::vector<std::string> devices_of(const GateResult& result) {
  std::vector<std::string> devices;
  const auto add = [&](const std::string& device) {
    if (std::find(devices.begin(), devices.end(), device) == devices.end()) devices.push_back(device);
  };
  for (const GateModule& module : result.modules) add(module.run->device);
  for (const GateGone& gone : result.gone) add(gone.device);
  for (const GateError& error : result.errors) add(error.device);
  return devices;
}

// ── SARIF ──

std::string rule_of(const GateRow& row) {
  const std::string& name = row.metric.name;
  std::string id = "HLOSIM-";
  for (const char c : name.substr(0, name.find('.')))
    id += c == '_' ? '-' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return id;
}

std::string rule_text(const std::string& rule) {
  std::string metric = rule.substr(7);
  for (char& c : metric) c = c == '-' ? ' ' : static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return fmt::format("Simulated {} grew beyond its limit.", metric);
}

// A relative reference: bytes outside of RFC 3986's unreserved ones as %XX.
std::string uri(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

Json location(std::string_view path, int64_t line) {
  Json place = {{"artifactLocation", {{"uri", uri(path)}}}};
  if (line > 0) place["region"] = {{"startLine", line}};
  return {{"physicalLocation", std::move(place)}};
}

Json sarif_result(const GateResult& result, const std::string& rule, std::string_view level,
                  const std::string& message, const GateModule& module, const GateRow* row) {
  Json json = {
      {"ruleId", rule},
      {"level", std::string(level)},
      {"message", {{"text", message}}},
      {"locations", Json::array({location(from_root(result, module.run->path), line_of(module, row))})}};
  Json related = Json::array();
  if (row)
    for (const Culprit& culprit : row->culprits) {
      if (culprit.source_file.empty()) continue;
      Json place = location(culprit.source_file, culprit.source_line);
      place["id"] = related.elements().size() + 1;
      place["message"] = {{"text", fmt::format("{} comes from here", culprit.name)}};
      related.push_back(std::move(place));
    }
  if (!related.empty()) json["relatedLocations"] = std::move(related);
  json["partialFingerprints"] = {
      {"hlosimGate/v1", fmt::format("{}/{}/{}/{}", module.run->name(), module.run->number, module.run->device,
                                    row ? row->metric.name : "")}};
  return json;
}

const std::string kGoneRule = "HLOSIM-GONE-MODULE";

/// It has no file any more: the place to look at is the configuration.
Json sarif_gone(const GateResult& result, const std::string& rule, const GateGone& gone) {
  return {{"ruleId", rule},
          {"level", result.on_gone == GatePolicy::kFail ? "error" : "warning"},
          {"message", {{"text", fmt::format("Gone: {}: {}", gone.text(), kGone)}}},
          {"locations", Json::array({location(from_root(result, result.config), 1)})},
          {"partialFingerprints", {{"hlosimGate/v1", fmt::format("{}/{}/gone", gone.name, gone.device)}}}};
}

}  // namespace

std::string to_junit(const GateResult& result) {
  std::string suites;
  Counts all;
  for (const std::string& device : devices_of(result)) {
    Counts counts;
    std::string cases;
    for (const GateModule& module : result.modules)
      if (module.run->device == device)
        for (const GateRow& row : module.rows) cases += junit_case(result, module, row, counts);
    for (const GateGone& gone : result.gone)
      if (gone.device == device) cases += junit_gone(result, gone, counts);
    for (const GateError& error : result.errors) {
      if (error.device != device) continue;
      ++counts.tests, ++counts.errors;
      cases += fmt::format(
          "    <testcase classname=\"{}\" name=\"input\" time=\"0\">\n      <error message=\"{}\" "
          "type=\"input\"/>\n    </testcase>\n",
          attribute_escaped(error.file), attribute_escaped(error.message));
    }
    suites += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"0\">\n{}  "
        "</testsuite>\n",
        attribute_escaped(device.empty() ? "input" : device), counts.tests, counts.failures, counts.errors,
        counts.skipped, cases);
    all.tests += counts.tests, all.failures += counts.failures, all.errors += counts.errors;
    all.skipped += counts.skipped;
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"hlosim gate\" tests=\"{}\" "
      "failures=\"{}\" errors=\"{}\" time=\"0\">\n{}</testsuites>\n",
      all.tests, all.failures, all.errors, suites);
}

std::string to_sarif(const GateResult& result, std::string_view tool_version) {
  Json results = Json::array();
  std::vector<std::string> rules;
  const auto use_rule = [&](const std::string& rule) {
    if (std::find(rules.begin(), rules.end(), rule) == rules.end()) rules.push_back(rule);
    return rule;
  };
  for (const GateModule& module : result.modules) {
    for (const GateRow& row : module.rows)
      if (row.verdict == Verdict::kRegressed)
        results.push_back(sarif_result(
            result, use_rule(rule_of(row)), "error",
            fmt::format("{}: {}{}", title_of(module, "Regression"), row_text(row), because_of(module, row)),
            module, &row));
    if (!is_unjudged(module) || policy_of(result, module) == GatePolicy::kPass) continue;
    const std::string_view level = policy_of(result, module) == GatePolicy::kFail ? "error" : "warning";
    results.push_back(sarif_result(
        result, use_rule(module.before ? "HLOSIM-NOT-COMPARABLE" : "HLOSIM-NEW-MODULE"), level,
        fmt::format("{}: {}", title_of(module, module.before ? "Not comparable" : "New"), module.reason),
        module, nullptr));
  }
  if (result.on_gone != GatePolicy::kPass)
    for (const GateGone& gone : result.gone) results.push_back(sarif_gone(result, use_rule(kGoneRule), gone));
  Json rules_json = Json::array();
  for (const std::string& rule : rules) {
    const std::string text = rule == "HLOSIM-NOT-COMPARABLE"
                                 ? "The baseline is of another device, options or model."
                             : rule == "HLOSIM-NEW-MODULE" ? "The baseline doesn't know the module."
                             : rule == kGoneRule ? "The baseline has a module that is no longer requested."
                                                 : rule_text(rule);
    rules_json.push_back({{"id", rule}, {"shortDescription", {{"text", text}}}});
  }
  for (Json& one : results.elements()) {
    const std::string id = one["ruleId"].text();
    one["ruleIndex"] = std::find(rules.begin(), rules.end(), id) - rules.begin();
  }
  Json notifications = Json::array();
  for (const GateError& error : result.errors)
    notifications.push_back(
        {{"level", "error"},
         {"message", {{"text", error.message}}},
         {"locations", Json::array({location(from_root(result, error.file), error.line)})}});
  Json invocation = {{"executionSuccessful", result.errors.empty()}};
  if (!notifications.empty()) invocation["toolExecutionNotifications"] = std::move(notifications);
  const Json driver = {
      {"name", "hlosim"}, {"version", std::string(tool_version)}, {"rules", std::move(rules_json)}};
  const Json document = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                         {"version", "2.1.0"},
                         {"runs", Json::array({{{"tool", {{"driver", driver}}},
                                                {"invocations", Json::array({invocation})},
                                                {"results", std::move(results)}}})}};
  return document.dump(1) + "\n";
}

std::string to_annotations(const GateResult& result) {
  std::string out;
  const auto annotate = [&](std::string_view kind, const std::string& file, int64_t line,
                            const std::string& title, const std::string& text) {
    fmt::format_to(std::back_inserter(out), "::{} file={}{},title={}::{}\n", kind,
                   command_text(from_root(result, file), true), line > 0 ? fmt::format(",line={}", line) : "",
                   command_text(title, true), command_text(text, false));
  };
  for (const GateModule& module : result.modules) {
    for (const GateRow& row : module.rows)
      if (row.verdict == Verdict::kRegressed)
        annotate("error", module.run->path, line_of(module, &row), title_of(module, "Regression"),
                 row_text(row) + because_of(module, row));
    if (!is_unjudged(module) || policy_of(result, module) == GatePolicy::kPass) continue;
    annotate(policy_of(result, module) == GatePolicy::kFail ? "error" : "warning", module.run->path,
             line_of(module, nullptr), title_of(module, module.before ? "Not comparable" : "New"),
             module.reason);
  }
  if (result.on_gone != GatePolicy::kPass)
    for (const GateGone& gone : result.gone)
      annotate(result.on_gone == GatePolicy::kFail ? "error" : "warning", result.config, 1,
               "Gone: " + gone.text(), std::string(kGone));
  for (const GateError& error : result.errors)
    annotate("error", error.file, error.line, "Wrong input", error.message);
  return out;
}

}  // namespace hlosim
