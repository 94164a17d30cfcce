// The page of a simulated server.
#include <fmt/format.h>

#include <utility>

#include "report/html/html_assets.h"
#include "serving/serving_text.h"
#include "text/base64.h"
#include "text/escape.h"
#include "text/scatter_svg.h"
#include "text/sha256.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

std::string point_title(const ServingPoint& point) {
  return fmt::format("{} requests: {:.1f} tok/s/chip, {:.1f} tok/s/user, TTFT {:.1f} ms, TPOT {:.2f} ms",
                     point.concurrency, point.per_chip, point.per_user, point.ttft_ms, point.tpot_ms);
}

std::string curve_svg(const std::vector<ServingPoint>& curve) {
  const auto number = [](double value) { return fmt::format("{:.4g}", value); };
  ScatterPlot plot;
  plot.x.name = "output tokens/s/user", plot.y.name = "output tokens/s/chip";
  plot.x.text = plot.y.text = number;
  plot.x.from_zero = plot.y.from_zero = true;
  plot.line = ScatterLine::kInOrder;
  for (const ServingPoint& one : curve)
    if (one.simulated)
      plot.marks.push_back(
          {.x = one.per_user, .y = one.per_chip, .front = one.front, .title = point_title(one)});
  return scatter_svg(std::move(plot));
}

std::string curve_rows(const std::vector<ServingPoint>& curve) {
  std::string rows;
  const TextBuilder print{rows};
  for (const ServingPoint& one : curve) {
    print("<tr><td>{}</td>", one.concurrency);
    if (one.simulated)
      print("<td>{:.1f}</td><td>{:.1f}</td><td>{:.1f}</td><td>{:.2f}</td><td>{}</td>", one.per_chip,
            one.per_user, one.ttft_ms, one.tpot_ms, one.front ? "frontier" : "");
    else
      print("<td></td><td></td><td></td><td></td><td>{}</td>", markup_escaped(one.reason));
    print("</tr>\n");
  }
  return rows;
}

constexpr std::string_view kPageStyle =
    "body{padding:16px 22px;max-width:1100px}section{background:var(--panel);border:1px solid var(--line);"
    "border-radius:8px;padding:14px;margin:14px 0}svg{width:100%;height:auto}pre{overflow-x:auto}"
    "table{border-collapse:collapse}td,th{padding:3px 12px;text-align:right;"
    "border-bottom:1px solid var(--line)}td:last-child{text-align:left}";

/// A text as a Content-Security-Policy allows it.
std::string policy_hash(std::string_view text) { return fmt::format("'sha256-{}'", base64(sha256(text))); }

}  // namespace

std::string to_html(const ServingReport& report) {
  const std::string title =
      markup_escaped(fmt::format("{} on {}: serving", report.setup.model.name, report.device));
  std::string page;
  const TextBuilder print{page};
  print("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
  const std::string style = html_assets().style + std::string(kPageStyle);
  print(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {} {}; img-src "
      "data:; base-uri 'none'; form-action 'none'\">\n",
      policy_hash(style), policy_hash(scatter_style()));
  print(
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"generator\" content=\"hlosim\">\n<title>{}</title>\n",
      title);
  print("<link rel=\"icon\" href=\"data:,\">\n<style>{}</style>\n</head>\n<body>\n<h1>{}</h1>\n", style,
        title);
  print("<section>\n<h2>Throughput over interactivity</h2>\n{}", curve_svg(report.curve));
  print(
      "<p class=\"detail\">A point is a number of concurrent requests; rings are the frontier: no other "
      "load has more of both. tokens/s/user is 1 / mean TPOT.</p>\n</section>\n");
  print(
      "<section>\n<h2>Loads</h2>\n<table>\n<tr><th>requests</th><th>tok/s/chip</th><th>tok/s/user</th>"
      "<th>median TTFT, ms</th><th>mean TPOT, ms</th><th></th></tr>\n{}</table>\n</section>\n",
      curve_rows(report.curve));
  print("<section>\n<h2>Report</h2>\n<pre>{}</pre>\n</section>\n</body>\n</html>\n",
        markup_escaped(to_text(report)));
  return page;
}

}  // namespace hlosim
