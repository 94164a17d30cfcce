#include "study/file_patterns.h"

#include <fnmatch.h>

#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

#include "base/file_path.h"

namespace hlosim {
namespace {

namespace fs = std::filesystem;

bool is_pattern(const std::string& part) { return part.find_first_of("*?[") != std::string::npos; }

bool fits(const std::string& part, const std::string& name) {
  return part == name || ::fnmatch(part.c_str(), name.c_str(), FNM_PERIOD) == 0;
}

class Finder {
 public:
  Finder(fs::path folder, const fs::path& pattern) : folder_(std::move(folder)) {
    for (const fs::path& part : pattern) {
      const bool is_again = part == "**" && !parts_.empty() && parts_.back() == "**";
      if (!part.empty() && part != "." && !is_again) parts_.push_back(part.string());
    }
    if (!parts_.empty() && parts_.back() == "**") parts_.emplace_back("*");
  }

  std::vector<std::string> find() {
    if (!parts_.empty()) look({}, 0);
    return {found_.begin(), found_.end()};
  }

 private:
  /// All that `parts_` from `next` on mean in the folder that is called `name`.
  void look(const fs::path& name, size_t next) {
    if (!seen_.emplace(name.native(), next).second) return;  // several ** lead to one folder in many ways
    const std::string& part = parts_[next];
    const bool is_last = next + 1 == parts_.size();
    std::error_code ignored;
    if (part == "**") {
      look(name, next + 1);
      for (const fs::directory_entry& entry : entries(name))
        if (entry.is_directory(ignored) && !entry.is_symlink(ignored) && fits("*", file_of(entry)))
          look(name / file_of(entry), next);
    } else if (!is_pattern(part)) {
      const fs::path whole = part == ".." ? above(folder_, name) : name / part;
      if (!is_last) return look(whole, next + 1);
      const fs::path file = whole.empty() ? "." : whole;
      if (fs::exists(fs::symlink_status(folder_ / file, ignored)))
        add(file);  // links to nothing are told later
    } else {
      for (const fs::directory_entry& entry : entries(name)) {
        if (!fits(part, file_of(entry))) continue;
        const bool is_folder = entry.is_directory(ignored);
        if (is_folder != is_last)
          is_folder ? look(name / file_of(entry), next + 1) : add(name / file_of(entry));
      }
    }
  }

  static std::string file_of(const fs::directory_entry& entry) { return entry.path().filename().string(); }

  std::vector<fs::directory_entry> entries(const fs::path& name) const {
    const fs::path folder = folder_ / name;
    std::error_code ignored;
    std::vector<fs::directory_entry> all;
    fs::directory_iterator at(folder.empty() ? fs::path(".") : folder, ignored);
    for (; !ignored && at != fs::directory_iterator(); at.increment(ignored)) all.push_back(*at);
    return all;
  }

  void add(const fs::path& name) { found_.insert(name.generic_string()); }

  fs::path folder_;
  std::vector<std::string> parts_;
  std::set<std::pair<std::string, size_t>> seen_;  // folders, each with the part to look for in it
  std::set<std::string> found_;
};

}  // namespace

std::vector<std::string> files_that_fit(const fs::path& folder, const std::string& pattern) {
  const char* const home = std::getenv("HOME");
  if (pattern.starts_with("~/") && home) return Finder({}, home + pattern.substr(1)).find();
  return Finder(folder, pattern).find();  // what is absolute stands alone behind a folder, too
}

}  // namespace hlosim
