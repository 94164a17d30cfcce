// Reports that --format=json saved, among the files of a command line.
//
//   if (is_saved_report(**source)) …               // JSON, no module
//   const auto left = take_saved_reports(options.files, streams, results.pages);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/source.h"
#include "cli/commands.h"
#include "report/html/html.h"

namespace hlosim {

/// It is JSON; whether it is a report, reading it says.
bool is_saved_report(const SourceFile& source);

/// Adds a page for each saved report among `files`; the result is the other files. Null, with what is wrong
/// printed: a file that can't be read, JSON that is no report or several.
std::optional<std::vector<std::string>> take_saved_reports(const std::vector<std::string>& files,
                                                           Streams streams, std::vector<HtmlModule>& pages);

}  // namespace hlosim
