// The formats of `hlosim report`. A new one is a row of the table in report_formats.cc and the function that
// writes it.
//
//   const ReportFormat& format = *find_report_format("csv");
//   if (format.takes_pages) results.pages.push_back(html_module(…));
//   text = format.write(results, {.top = 10});
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/figures.h"
#include "report/html/html.h"
#include "report/report.h"
#include "report/report_text.h"

namespace hlosim {

/// Of every module what formats are made of, in the order of the modules.
struct ReportResults {
  std::vector<Report> reports;
  std::vector<Metrics> figures;   // where a format takes them
  std::vector<HtmlModule> pages;  // likewise
  std::string source_link;        // of a page: template of links to source lines; may be empty
  std::vector<std::vector<ReportAdvice>> advice;  // of --advise; else empty

  const std::vector<ReportAdvice>* advice_of(size_t i) const {
    return i < advice.size() ? &advice[i] : nullptr;
  }
};

struct ReportFormat {
  const char* name;        // of --format
  std::string_view words;  // for help, behind the name; may be empty
  std::string (*write)(const ReportResults& results, const ReportTextOptions& text);
  bool takes_figures = false, takes_pages = false;
  bool is_for_people = false;  // text goes before, between and behind its reports
  bool has_warnings = true;    // false: it has no place for them
};

/// The default first.
std::span<const ReportFormat> report_formats();
/// Null: there is none of that name.
const ReportFormat* find_report_format(std::string_view name);
/// "text, json, csv or html (one page for a browser)"
std::string report_format_names();

}  // namespace hlosim
