#include "input/dump_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <tuple>

#include "base/regular_file.h"
#include "input/input_forms.h"
#include "input/packed.h"

namespace hlosim {
namespace {

namespace fs = std::filesystem;

constexpr bool is_decimal(char c) { return c >= '0' && c <= '9'; }

bool take_end(std::string_view& text, std::string_view end) {
  if (!text.ends_with(end)) return false;
  text.remove_suffix(end.size());
  return true;
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_decimal);
}

/// The last step of compilation that a name shows: its stage and rank, or false.
struct StageWord {
  std::string_view word;
  DumpStage stage;
  int rank;
};
// The names of TPU dumps are those of public logs; of CPU and GPU: docs of XLA, "HLO dumps".
constexpr StageWord kStages[] = {
    {"before_optimizations", DumpStage::kBefore, 0},
    {"after_optimizations-buffer-assignment", DumpStage::kBuffers, 0},
    {"after_optimizations_before_buffer_assignment", DumpStage::kAfter, 0},
    {"after_codegen", DumpStage::kAfter, 1},
    {"after_optimizations_after_buffer_assignment", DumpStage::kAfter, 2},
    {"after_optimizations", DumpStage::kAfter, 3},
};

/// "cpu_", "sm_8.0_gpu_": the platform at the end of `text` after its last dot that does not stand in a
/// version number.
void take_platform(std::string_view& text, std::string& platform) {
  if (!take_end(text, "_")) return;
  size_t dot = text.rfind('.');
  if (dot != std::string_view::npos && dot + 1 < text.size() && is_decimal(text[dot + 1])) {
    const size_t outer = text.rfind('.', dot - 1);
    const std::string_view before = text.substr(outer == std::string_view::npos ? 0 : outer + 1);
    if (before.starts_with("sm_")) dot = outer;
  }
  const size_t start = dot == std::string_view::npos ? 0 : dot + 1;
  platform = text.substr(start);
  text = text.substr(0, start);
}

bool take_stage(std::string_view& text, DumpFileName& name) {
  for (const StageWord& stage : kStages) {
    std::string_view rest = text;
    if (!take_end(rest, stage.word)) continue;
    name.stage = stage.stage;
    name.rank = stage.rank;
    take_platform(rest, name.platform);
    if (!take_end(rest, ".")) continue;
    text = rest;
    return true;
  }
  // .0012.pipeline.after_pass.before_pass
  for (size_t at = text.find(".after_"); at != std::string_view::npos; at = text.find(".after_", at + 1)) {
    const std::string_view before = text.substr(0, at);
    const size_t pipeline = before.rfind('.');
    if (pipeline == std::string_view::npos || pipeline == 0) continue;
    const size_t number = before.rfind('.', pipeline - 1);
    if (number == std::string_view::npos) continue;
    const std::string_view digits = before.substr(number + 1, pipeline - number - 1);
    if (digits.size() < 4 || !all_digits(digits) || digits.size() > 9) continue;
    name.stage = DumpStage::kPass;
    std::from_chars(digits.data(), digits.data() + digits.size(), name.rank);
    text = text.substr(0, number);
    return true;
  }
  return false;
}

bool parse_stem(std::string_view text, DumpFileName& name) {
  if (!take_stage(text, name)) return false;
  const size_t dot = text.find('.');
  if (dot != std::string_view::npos && all_digits(text.substr(0, dot))) {
    name.prefix = text.substr(0, dot);
    text.remove_prefix(dot + 1);
  }
  if (!text.starts_with("module_")) return false;
  text.remove_prefix(7);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), name.number);
  if (error != std::errc() || name.number < 0) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (text.empty()) return true;
  if (text[0] != '.') return false;
  name.module = text.substr(1);
  return true;
}

/// Files of one module, the best of each kind so far.
struct Found {
  struct Best {
    std::tuple<int, int> order{-1, -1};  // rank, form
    std::string path, platform;
    void offer(int rank, int form, const std::string& candidate, const std::string& of) {
      if (std::tuple(rank, form) <= order) return;
      order = {rank, form};
      path = candidate;
      platform = of;
    }
  };
  Best before, after, buffers;
  std::map<int, Best> passes;

  Best& of(const DumpFileName& name) {
    switch (name.stage) {
      case DumpStage::kBefore:
        return before;
      case DumpStage::kPass:
        return passes[name.rank];
      case DumpStage::kAfter:
        return after;
      case DumpStage::kBuffers:
        break;
    }
    return buffers;
  }
};

}  // namespace

bool parse_dump_file_name(std::string_view file, DumpFileName& name) {
  name = {};
  const std::string_view plain = without_packing(file);
  const bool text_ending = plain.ends_with(".txt") && !plain.ends_with(".hlo.txt");
  std::string_view stem = file;
  if (take_form_ending(stem) == 0) return false;
  if (parse_stem(stem, name)) return name.stage != DumpStage::kBuffers || text_ending;
  if (text_ending) return false;  // logs, options and reports end so too
  name = {};
  name.stage = DumpStage::kAfter;
  name.module = stem;
  return true;
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return path != "-" && fs::is_directory(path, ignored);
}

Result<std::vector<DumpedModule>> read_dump_folder(const std::string& path) {
  std::error_code error;
  std::vector<std::string> files;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (!at->is_directory(ignored)) files.push_back(at->path().filename().string());
  }
  if (error) return failure(fmt::format("cannot read '{}': {}", path, error.message()));
  std::sort(files.begin(), files.end());  // what wins among equals
  std::map<std::tuple<std::string, int64_t, std::string>, Found> found;
  DumpFileName name;
  for (const std::string& file : files) {
    if (!parse_dump_file_name(file, name)) continue;
    const std::string member = (fs::path(path) / file).string();
    if (Result<void> regular = expect_regular(member); !regular)
      return tl::unexpected(std::move(regular.error()));
    std::string_view stem = file;
    const int form = take_form_ending(stem);
    found[{name.prefix, name.number, name.module}].of(name).offer(name.rank, form, member, name.platform);
  }
  std::vector<DumpedModule> modules;
  for (const auto& [key, parts] : found) {
    DumpedModule module;
    std::tie(module.prefix, module.number, module.name) = key;
    module.before = parts.before.path;
    module.after = parts.after.path;
    module.platform = parts.after.platform.empty() ? parts.buffers.platform : parts.after.platform;
    module.buffers = parts.buffers.path;
    for (const auto& pass : parts.passes) module.passes.push_back(pass.second.path);
    if (!module.best().empty()) modules.push_back(std::move(module));
  }
  if (modules.empty()) {
    std::error_code ignored;
    const bool is_log = fs::is_directory(fs::path(path) / "plugins" / "profile", ignored);
    return failure(
        fmt::format("'{}' holds {}", path, is_log ? "profiles, not programs" : "no module"),
        is_log ? fmt::format("hlosim profile {} --device=v5e", path)
               : "files are found by the names that --xla_dump_to gives them, and by .hlo and .hlo.txt");
  }
  return modules;
}

}  // namespace hlosim
