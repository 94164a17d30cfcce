// Keys that keys_without_effect() names have none: it goes by the recorded terms of programs that are not
// lowered, and here every number of a device is doubled and the module run again.
//
//   HLOSIM_ALL_KEYS=1 build/ci/tests/report_tests --gtest_filter='ReadKeys.*'
//
// tries every key with every module on every device, and lists keys that count as read where doubling them
// changed nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <charconv>
#include <cstdlib>
#include <map>
#include <mutex>

#include "estimate/estimate.h"
#include "estimate/unused_keys.h"
#include "input/load_modules.h"
#include "support/estimated.h"
#include "support/folders.h"
#include "support/module_files.h"
#include "text/read_json.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

/// Instructions of the largest module that is tried.
constexpr size_t kLargest = 300;

struct Variant {
  std::string key;
  Device device;
};

struct Tried {
  Device device;
  std::vector<Variant> doubled;
};

/// Another value at each path: the double of a number, true for false.
std::optional<std::string> other_value(const std::string& text) {
  if (text == "true" || text == "false") return text == "true" ? "false" : "true";
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number <= 0) return std::nullopt;
  return fmt::format("{}{}", 2 * number, std::string_view(rest, text.data() + text.size()));
}

Tried with_doubled(const std::string& name) {
  Tried tried{test::device_or_fail(name), {}};
  for (const DeviceValue& value : tried.device.values) {
    const std::optional<std::string> other = other_value(value.text);
    if (!other || !value.has_source || is_name(value.path)) continue;
    DiagnosticList problems;
    const std::vector<DeviceOverride> change = {{value.path, *other}};
    if (std::optional<Device> device = load_device(name, change, {}, problems))  // else it isn't allowed
      tried.doubled.push_back({value.path, std::move(*device)});
  }
  return tried;
}

struct Counts {
  size_t runs = 0, changed = 0;
  std::map<std::string, size_t> read_in_vain;
  std::string wrong;

  Counts& operator+=(const Counts& other) {
    runs += other.runs, changed += other.changed, wrong += other.wrong;
    for (const auto& [key, count] : other.read_in_vain) read_in_vain[key] += count;
    return *this;
  }
};

/// Every `step`-th key, from `first` on.
Counts check(const std::string& name, const Module& module, const Tried& tried, size_t first, size_t step) {
  Counts counts;
  const EstimateOptions options;
  const Result<Estimate> plain = estimate(module, op_table(), tried.device, options);
  if (!plain) return counts;
  const uint64_t before = result_fingerprint(*plain, tried.device.config);
  for (size_t i = first; i < tried.doubled.size(); i += step) {
    const auto& [key, device] = tried.doubled[i];
    const Result<Estimate> run = estimate(module, op_table(), device, options);
    if (!run) continue;
    ++counts.runs;
    const bool changes = result_fingerprint(*run, device.config) != before;
    counts.changed += changes;
    if (!changes && step > 1) continue;
    const bool is_read = keys_without_effect(module, op_table(), device, options, *run).keys.empty();
    if (changes && !is_read)
      counts.wrong += fmt::format("{} on {}: {} has an effect\n", name, tried.device.config.name, key);
    if (!changes && is_read) ++counts.read_in_vain[key];
  }
  return counts;
}

struct NamedModule {
  std::string name;
  Module module;
};

void add_modules(const std::string& name, const SourcePtr& source, std::vector<NamedModule>& to) {
  DiagnosticList problems;
  std::vector<Module> modules = load_modules(source, op_table(), problems);
  if (problems.has_errors()) return;
  for (Module& module : modules)
    if (module.instructions.size() <= kLargest) to.push_back({name, std::move(module)});
}

/// The shortest of the measured programs of each kind.
void add_measured(std::vector<NamedModule>& to) {
  const SourcePtr source =
      std::make_shared<SourceFile>("cases.json", test::shared_text("measured/cases.json"));
  DiagnosticList problems;
  const std::optional<Value> cases = source->text().empty() ? std::nullopt : parse_json(source, problems);
  if (!cases) return;
  std::map<std::string, const std::string*> shortest;
  for (const Value& one : cases->items) {
    const Value *kind = one.find("kind"), *text = one.find("hlo");
    if (!kind || !text) continue;
    const std::string*& of_kind = shortest[kind->text];
    if (!of_kind || text->text.size() < of_kind->size()) of_kind = &text->text;
  }
  for (const auto& [kind, text] : shortest)
    add_modules("measured " + kind, std::make_shared<SourceFile>(kind, *text), to);
}

Counts check_all(const std::vector<NamedModule>& modules, bool on_all_devices) {
  const bool all_keys = std::getenv("HLOSIM_ALL_KEYS") != nullptr;
  const std::vector<std::string> names = builtin_devices();
  std::vector<Tried> devices(names.size());
  parallel_for(static_cast<int64_t>(names.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      devices[static_cast<size_t>(i)] = with_doubled(names[static_cast<size_t>(i)]);
  });
  // Otherwise each module has another share of the keys.
  const size_t step = all_keys ? 1 : on_all_devices ? 15 : 6;
  std::vector<Counts> found(modules.size());
  parallel_for(static_cast<int64_t>(modules.size()), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      for (size_t at = 0; at < devices.size(); ++at) {
        if (!all_keys && !on_all_devices && at != i % devices.size()) continue;
        found[i] += check(modules[i].name, modules[i].module, devices[at], (i + at) % step, step);
      }
  });
  Counts all;
  for (const Counts& one : found) all += one;
  if (all_keys) {
    fmt::print("{} runs, {} changed\n", all.runs, all.changed);
    for (const auto& [key, count] : all.read_in_vain) fmt::print("{:6} {}\n", count, key);
  }
  return all;
}

TEST(ReadKeys, OfModulesAreAllThatChangeAResult) {
  std::vector<NamedModule> modules;
  for (const std::filesystem::path& file : test::right_modules({.file_tests = 6, .others = 0})) {
    const Result<SourcePtr> source = read_source(file.string());
    if (source && (*source)->text().size() < 40'000) add_modules(file.filename().string(), *source, modules);
  }
  const Counts all = check_all(modules, false);
  EXPECT_EQ(all.wrong, "");
  EXPECT_GT(all.runs, 500u);
  EXPECT_GT(all.changed, 100u);
}

TEST(ReadKeys, OfMeasuredProgramsAreAllThatChangeAResult) {
  std::vector<NamedModule> modules;
  add_measured(modules);
  if (modules.empty()) GTEST_SKIP() << test::no_shared("measured/cases.json");
  const Counts all = check_all(modules, true);
  EXPECT_EQ(all.wrong, "");
  EXPECT_GT(all.runs, 500u);
  EXPECT_GT(all.changed, 100u);
}

}  // namespace
}  // namespace hlosim
