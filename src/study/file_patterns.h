// The files that a line of a configuration means: * and ? within names, ** for folders however deep.
//
//   files_that_fit("ci", "*.hlo")          {"a.hlo", "b.hlo"}, called as from the folder ci
//   files_that_fit("ci", "./**/*.hlo")     {"a.hlo", "b.hlo", "deep/down/c.hlo"}
//   files_that_fit("ci", "x[1].hlo")       {"x1.hlo", "x[1].hlo"}, whichever are there
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hlosim {

/// Sorted, each once, without detours. `pattern` may be absolute, then so are the
/// names, or begin with "~/". The folder's own name is only a name. Neither * nor ** take names that begin
/// with a dot, and ** follows no links. A pattern without *, ? and [ is the file itself, or nothing when it
/// isn't there.
std::vector<std::string> files_that_fit(const std::filesystem::path& folder, const std::string& pattern);

}  // namespace hlosim
