// Without files: what is built in is all there is.
#include "base/config_files.h"

namespace hlosim {

std::string find_config_file(const std::string&, const ConfigSearch&, std::vector<std::string>&) {
  return {};
}

std::vector<std::string> config_files_in(const std::string&) { return {}; }

Result<SourcePtr> read_config_file(const std::string& path) {
  return failure("cannot read '" + path + "': there are no files here");
}

std::string canonical_path(const std::string& path) { return path; }

}  // namespace hlosim
