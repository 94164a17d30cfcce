// The report as one page for a browser: everything in one file, nothing loaded from anywhere.
//
//   HtmlModule part = html_module(op_table(), device, *estimate, report, "1.0");  // needs
//   keep_timeline write_file("r.html", html_page({&part, 1}));
//
// The page holds the members of to_json(Report), arrays of objects as columns, beside what only a picture
// needs: slices, places of buffers, the module's text. Each is JSON, deflated, in base64, unpacked when it is
// looked at. docs/html_report.md describes the format; src/report/html/ has the page itself.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/report.h"
#include "report/report_advice.h"

namespace hlosim {

/// What one module brings to a page.
struct HtmlModule {
  std::string title;   // "module on TPU v4"
  std::string plain;   // the report in text, for browsers without scripts
  std::string report;  // from here on: packed
  std::string timeline;
  std::string memory;
  std::string text;
};

struct HtmlOptions {
  /// Slices of the timeline at most, and four per instruction in any case: beyond, loops show their first
  /// iterations only. 40,000 take about 200 kB.
  int64_t max_slices = 40'000;
  const std::vector<ReportAdvice>* advice = nullptr;  // changes that pay; null: not asked for
};

/// Requires: an estimate with keep_timeline, and the report on it.
HtmlModule html_module(const OpTable& table, const Device& device, const Estimate& estimate,
                       const Report& report, std::string_view tool_version, const HtmlOptions& options = {});

/// A saved report, as to_json(Report) writes it: without timeline, buffers and text.
HtmlModule html_module(std::string_view report_json);

/// Empty: `text` is a template of --source-link, an address with {file} and possibly {line}. Else what is
/// wrong.
std::string source_link_problem(std::string_view text);

/// One page of one or several modules. With `diff_json`, what to_json(Diff) says of the first and the second
/// of two, the page begins with their difference; with `profile_json`, what to_json(ProfileComparison) says,
/// with that. `source_link`: a template without a problem, by which source lines become links; empty: none.
std::string html_page(std::span<const HtmlModule> modules, std::string_view diff_json = {},
                      std::string_view profile_json = {}, std::string_view source_link = {});

}  // namespace hlosim
