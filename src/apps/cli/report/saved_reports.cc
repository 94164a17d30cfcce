#include "cli/report/saved_reports.h"

#include "base/value.h"
#include "console/input.h"
#include "console/verbosity.h"
#include "input/dump_folder.h"
#include "report/figures.h"
#include "text/read_json.h"

namespace hlosim {

bool is_saved_report(const SourceFile& source) {
  const size_t first = source.text().find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (source.text()[first] == '{' || source.text()[first] == '[');
}

std::optional<std::vector<std::string>> take_saved_reports(const std::vector<std::string>& files,
                                                           Streams streams, std::vector<HtmlModule>& pages) {
  std::vector<std::string> others;
  for (const std::string& file : files) {
    if (is_folder(file)) {
      others.push_back(file);
      continue;
    }
    const Result<SourcePtr> source = read_input(file, streams);
    if (!source) {
      tell(source.error(), streams);
      return std::nullopt;
    }
    if (!is_saved_report(**source)) {
      others.push_back(file);
      continue;
    }
    DiagnosticList problems;
    const std::optional<Value> document = parse_json(*source, problems);
    const bool is_report = document && read_report_figures(*document, problems);
    tell(problems, streams);
    if (!is_report || problems.has_errors()) return std::nullopt;
    pages.push_back(html_module((*source)->text()));
  }
  return others;
}

}  // namespace hlosim
