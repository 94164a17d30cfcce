#include "cli/report/report_formats.h"

#include <fmt/format.h>

#include "console/input.h"
#include "report/report_json.h"

namespace hlosim {
namespace {

std::string text(const ReportResults& results, const ReportTextOptions& options) {
  std::string out;
  for (size_t i = 0; i < results.reports.size(); ++i) {
    if (!out.empty()) out += "\n\n";
    ReportTextOptions own = options;
    own.advice = results.advice_of(i);
    out += to_text(results.reports[i], own);
  }
  return out;
}

std::string json(const ReportResults& results, const ReportTextOptions&) {
  std::vector<std::string> documents;
  for (size_t i = 0; i < results.reports.size(); ++i)
    documents.push_back(
        to_json(results.reports[i], results.figures[i], HLOSIM_VERSION, results.advice_of(i)));
  return json_documents(documents);
}

std::string csv(const ReportResults& results, const ReportTextOptions&) { return to_csv(results.reports); }

std::string html(const ReportResults& results, const ReportTextOptions&) {
  return html_page(results.pages, {}, {}, results.source_link);
}

constexpr ReportFormat kFormats[] = {
    {.name = "text", .words = "", .write = text, .is_for_people = true},
    {.name = "json", .words = "", .write = json, .takes_figures = true},
    {.name = "csv", .words = "", .write = csv, .has_warnings = false},
    {.name = "html", .words = "one page for a browser", .write = html, .takes_pages = true},
};

}  // namespace

std::span<const ReportFormat> report_formats() { return kFormats; }

const ReportFormat* find_report_format(std::string_view name) {
  for (const ReportFormat& format : kFormats)
    if (name == format.name) return &format;
  return nullptr;
}

std::string report_format_names() {
  std::string out;
  for (const ReportFormat& format : kFormats) {
    const bool last = &format == std::end(kFormats) - 1;
    out += fmt::format("{}{}", out.empty() ? "" : last ? " or " : ", ", format.name);
    if (!format.words.empty()) out += fmt::format(" ({})", format.words);
  }
  return out;
}

}  // namespace hlosim
