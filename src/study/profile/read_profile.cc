#include "profile/read_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/text.h"
#include "input/packed.h"
#include "profile/profile_merge.h"
#include "profile/table_reader.h"
#include "profile/trace_reader.h"
#include "profile/xspace_reader.h"

namespace hlosim {
namespace {

namespace fs = std::filesystem;

/// How much files say, by their names; of a run those that say the most count.
enum Rank : int { kNone, kTable, kPerfettoTrace, kTrace, kSpace };

int rank_of(std::string_view file) {
  const std::string_view plain = without_packing(file);
  if (plain.ends_with(".xplane.pb")) return kSpace;
  if (plain.ends_with("perfetto_trace.json")) return kPerfettoTrace;
  if (plain.ends_with(".trace.json")) return kTrace;
  const bool is_table = plain.find("hlo_stats") != std::string_view::npos ||
                        plain.find("op_profile") != std::string_view::npos ||
                        plain.find("framework_op_stats") != std::string_view::npos;
  return is_table && (plain.ends_with(".json") || plain.ends_with(".csv")) ? kTable : kNone;
}

constexpr int kMostLevels = 12;

/// Unpacked, without the mark that some programs put in front of UTF-8.
Result<SourcePtr> plain(const SourcePtr& given) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  SourcePtr source = given;
  if (is_packed(source->text())) {
    Result<std::string> inside = unpacked(source->text(), source->name());
    if (!inside) return tl::unexpected(inside.error());
    source = std::make_shared<const SourceFile>(source->name(), std::move(*inside));
  }
  if (!source->text().starts_with(kMark)) return source;
  return std::make_shared<const SourceFile>(source->name(), std::string(source->text().substr(kMark.size())));
}

}  // namespace

Result<ProfileRun> find_profile_run(const std::string& folder) {
  std::error_code error;
  std::map<std::string, std::pair<int, std::vector<std::string>>> runs;  // by folder: best rank and its files
  for (fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && at != end; at.increment(error)) {
    if (at.depth() > kMostLevels) at.disable_recursion_pending();
    const int rank = rank_of(at->path().filename().string());
    std::error_code ignored;
    if (rank == 0 || !at->is_regular_file(ignored)) continue;
    auto& [best, files] = runs[at->path().parent_path().string()];
    if (rank > best) best = rank, files.clear();
    if (rank == best) files.push_back(at->path().string());
  }
  if (error) return failure(fmt::format("cannot read '{}': {}", folder, error.message()));
  if (runs.empty())
    return failure(fmt::format("no profile in '{}'", folder),
                   "a log folder has plugins/profile/<run>/*.xplane.pb or *.trace.json.gz");
  ProfileRun run;
  run.name = fs::path(runs.rbegin()->first).filename().string();
  run.files = std::move(runs.rbegin()->second.second);
  std::sort(run.files.begin(), run.files.end());
  run.by_host = runs.rbegin()->second.first >= kTrace;
  for (auto one = runs.begin(); std::next(one) != runs.end(); ++one)
    run.other_runs.push_back(fs::path(one->first).filename().string());
  return run;
}

Result<bool> holds_profile(const SourcePtr& given) {
  const Result<SourcePtr> source = plain(given);
  if (!source) return tl::unexpected(source.error());
  const std::string_view bytes = (*source)->text();
  return looks_like_xspace(bytes) || looks_like_trace(bytes) || looks_like_table(bytes);
}

Result<Profile> read_profile(const SourcePtr& given) {
  const Result<SourcePtr> unfolded = plain(given);
  if (!unfolded) return tl::unexpected(unfolded.error());
  const SourcePtr& source = *unfolded;
  if (looks_like_xspace(source->text())) return read_xspace(source->text(), source->name());
  if (looks_like_trace(source->text())) return read_trace(source);
  if (looks_like_table(source->text())) return read_table(source);
  if (without_packing(source->name()).ends_with(".xplane.pb"))
    return read_xspace(source->text(), source->name());
  return failure(
      fmt::format("'{}' is not a profile", shown(source->name(), 200)),
      "XSpace (*.xplane.pb), a trace (*.trace.json), XProf's hlo_stats (JSON, CSV) or op_profile (JSON)");
}

Result<Profile> read_profile(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    const Result<SourcePtr> source = read_source(path);
    if (!source) return tl::unexpected(source.error());
    return read_profile(*source);
  }
  const Result<ProfileRun> run = find_profile_run(path);
  if (!run) return tl::unexpected(run.error());
  Result<Profile> profile = read_profile(run->files.front());
  if (!profile) return profile;
  for (size_t i = 1; run->by_host && i < run->files.size(); ++i) {
    Result<Profile> more = read_profile(run->files[i]);
    if (!more) return more;
    add_host(*profile, std::move(*more));
  }
  if (!run->other_runs.empty())
    profile->notes.push_back(fmt::format("run {} of {}: the latest", run->name, run->other_runs.size() + 1));
  if (run->files.size() > 1)
    profile->notes.push_back(run->by_host ? fmt::format("{} hosts' files together", run->files.size())
                                          : fmt::format("the first of {} tables", run->files.size()));
  return profile;
}

}  // namespace hlosim
