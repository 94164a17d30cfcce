#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "model/unit.h"
#include "report/html/html.h"
#include "report/html/html_assets.h"
#include "report/html/html_data.h"
#include "report/report_json.h"
#include "report/report_text.h"
#include "report/trace/trace.h"
#include "text/base64.h"
#include "text/escape.h"
#include "text/json.h"

namespace hlosim {
namespace {

std::string packed(std::string_view text) { return base64(gzip(text)); }

/// Of the module's text: where it begins in its file, and the line of each instruction.
std::string page_data(int64_t first_line, bool is_lowered, std::string_view lines) {
  return fmt::format(R"({{"format":1,"text":{{"first_line":{},"is_lowered":{},"lines":{}}}}})", first_line,
                     is_lowered, lines);
}

std::string report_data(const ModuleText& text, const Report& report, std::string_view tool_version,
                        const std::vector<ReportAdvice>* advice) {
  std::vector<int64_t> lines = text.lines;
  ColumnWriter table(lines.size());
  table.whole_numbers("line", lines);
  return columns_of(to_json(report, tool_version, advice),
                    page_data(text.first_line, text.is_lowered, table.take()));
}

/// What units are in words, as JSON: the page's script is the same text in every page, as its hash asks.
std::string unit_meanings() {
  std::string out;
  for (const auto& [name, words] : unit_words())
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", json_text(name), json_text(words));
  return "{" + out + "}";
}

/// A hash as a Content-Security-Policy has it.
std::string base64_of_hex(std::string_view digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  return base64(bytes);
}

struct Filling {
  std::string_view mark, text;
};

/// `{{mark}}` becomes its text; what is filled in is not looked at again.
std::string filled(std::string_view frame, std::initializer_list<Filling> fillings) {
  std::string out;
  while (true) {
    const size_t begin = frame.find("{{"), end = frame.find("}}", begin);
    out += frame.substr(0, begin);
    if (begin == std::string_view::npos || end == std::string_view::npos) return out;
    const std::string_view mark = frame.substr(begin + 2, end - begin - 2);
    for (const Filling& filling : fillings)
      if (filling.mark == mark) out += filling.text;
    frame.remove_prefix(end + 2);
  }
}

}  // namespace

HtmlModule html_module(const OpTable& table, const Device& device, const Estimate& estimate,
                       const Report& report, std::string_view tool_version, const HtmlOptions& options) {
  HtmlModule out;
  out.title = fmt::format("{} on {}", report.module_name, report.device_name);
  out.plain = to_text(report, {.advice = options.advice});
  const ModuleText text = module_text(table, report);
  out.report = packed(report_data(text, report, tool_version, options.advice));
  out.text = packed(text.text);
  TraceOptions trace;
  trace.max_events =
      std::max(options.max_slices, 4 * static_cast<int64_t>(estimate.simulation->instructions.size()));
  out.timeline = packed(timeline_data(make_trace(table, device, estimate, trace)));
  out.memory = packed(memory_data(table, device, estimate, report));
  return out;
}

HtmlModule html_module(std::string_view report_json) {
  HtmlModule out;
  out.title = title_of(report_json);
  ColumnWriter no_lines(0);
  no_lines.whole_numbers("line", std::vector<int64_t>());
  out.report = packed(columns_of(report_json, page_data(1, false, no_lines.take())));
  return out;
}

std::string source_link_problem(std::string_view text) {
  constexpr std::string_view kOfSchemes = "abcdefghijklmnopqrstuvwxyz0123456789+.-";
  constexpr std::string_view kScripts[] = {"javascript", "data", "vbscript", "blob"};
  const size_t colon = text.find(':');
  const std::string_view scheme = text.substr(0, colon == std::string_view::npos ? 0 : colon);
  if (scheme.empty() || scheme.find_first_not_of(kOfSchemes) != std::string_view::npos)
    return "expected an address, which begins with a scheme in lower case";
  for (const std::string_view script : kScripts)
    if (scheme == script) return fmt::format("addresses of the scheme '{}' are not allowed", scheme);
  if (text.find("{file}") == std::string_view::npos) return "expected {file} in it";
  return "";
}

std::string html_page(std::span<const HtmlModule> modules, std::string_view diff_json,
                      std::string_view profile_json, std::string_view source_link) {
  const HtmlAssets assets = html_assets();
  std::string plain, data;
  const auto add = [&](std::string_view module, std::string_view part, const std::string& title,
                       const std::string& block) {
    if (!block.empty())
      fmt::format_to(std::back_inserter(data),
                     "<script type=\"text/plain\" class=\"data\" data-module=\"{}\" data-part=\"{}\" "
                     "data-title=\"{}\">{}</script>\n",
                     module, part, markup_escaped(title), block);
  };
  const bool is_diff = !diff_json.empty();
  for (size_t i = 0; i < modules.size(); ++i) {
    const HtmlModule& module = modules[i];
    const std::string number = std::to_string(i);
    const std::string title = (!is_diff ? "" : i == 0 ? "before: " : "after: ") + module.title;
    plain += "<pre>" + markup_escaped(module.plain) + "</pre>\n";
    add(number, "report", title, module.report);
    add(number, "timeline", title, module.timeline);
    add(number, "memory", title, module.memory);
    add(number, "text", title, module.text);
  }
  if (is_diff) add("all", "diff", "difference", packed(diff_json));
  if (!profile_json.empty()) add("all", "profile", "profile", packed(profile_json));
  std::string title = modules.empty() ? "hlosim" : markup_escaped(modules[0].title);
  if (modules.size() > 1)
    title += is_diff ? " and " + markup_escaped(modules[1].title)
                     : fmt::format(" and {} more", modules.size() - 1);
  return filled(assets.frame, {{"title", title},
                               {"style", assets.style},
                               {"plain", plain},
                               {"data", data},
                               {"units", unit_meanings()},
                               {"source_link", markup_escaped(source_link)},
                               {"script", assets.script},
                               {"style_hash", base64_of_hex(assets.style_sha256)},
                               {"script_hash", base64_of_hex(assets.script_sha256)}});
}

}  // namespace hlosim
