#include "model/device_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/config_files.h"
#include "base/text.h"
#include "model/builtin_configs.h"
#include "model/device_names.h"
#include "model/device_reader.h"

namespace hlosim {

DeviceSearch DeviceSearch::from_environment() {
  DeviceSearch search;
  const char* variable = std::getenv("HLOSIM_CONFIG_PATH");
  std::string_view rest = variable ? variable : "";
  while (!rest.empty()) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    if (colon > 0) search.directories.emplace_back(rest.substr(0, colon));
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return search;
}

void merge(Value& base, const Value& over) {
  if (!base.is_map() || !over.is_map()) {
    base = over;
    return;
  }
  // Positions follow the later file: what is missing is missing there.
  base.source = over.source;
  base.offset = over.offset;
  base.key_offset = over.key_offset;
  for (const Value& item : over.items) {
    Value* existing = base.find(item.key);
    if (!existing)
      base.items.push_back(item);
    else if (item.is_null())
      std::erase_if(base.items, [&](const Value& other) { return other.key == item.key; });
    else
      merge(*existing, item);
  }
}

namespace {
constexpr std::string_view kBuiltinSuffix = ".yaml (built-in)";
}

SourcePtr builtin_source(const BuiltinConfig& config) {
  return std::make_shared<const SourceFile>(fmt::format("{}{}", config.name, kBuiltinSuffix),
                                            std::string(config.text));
}

namespace {

std::string stem_of(const std::string& name) {
  return name.ends_with(".yaml") ? name.substr(0, name.size() - 5) : name;
}

const BuiltinConfig* find_builtin(const std::string& name) {
  for (const BuiltinConfig& config : builtin_configs())
    if (config.name == stem_of(name)) return &config;
  return nullptr;
}

std::string identity(const SourceFile& source) {
  return is_builtin(source) ? source.name() : canonical_path(source.name());
}

std::vector<std::string> names_in(const DeviceSearch& search) {
  std::vector<std::string> names = builtin_devices();
  for (const std::string& directory : search.directories)
    for (const std::string& path : config_files_in(directory)) names.push_back(config_name_of(path));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

/// Accelerators and processors of other makers, in lower case.
constexpr std::string_view kOtherHardware[] = {
    "a10",   "a30",   "a40",   "a100",  "a800",   "b100",  "b200",   "b300",     "gb200",    "gb300",
    "gh200", "h20",   "h100",  "h200",  "h800",   "l4",    "l40",    "p100",     "t4",       "v100",
    "mi100", "mi200", "mi210", "mi250", "mi300",  "mi325", "mi350",  "mi355",    "rtx",      "gtx",
    "gpu",   "cuda",  "rocm",  "amd",   "nvidia", "tesla", "quadro", "instinct", "radeon",   "gaudi",
    "cpu",   "x86",   "xeon",  "epyc",  "trn1",   "trn2",  "inf1",   "inf2",     "trainium", "inferentia"};

/// "H100", "a100-80gb", "RTX4090": hardware that no device file describes.
bool is_other_hardware(std::string_view given) {
  const std::string word = lower_case(given);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return std::ranges::any_of(kOtherHardware, [&](std::string_view name) {
    return word.starts_with(name) &&
           (word.size() == name.size() || !is_digit(name.back()) || !is_digit(word[name.size()]));
  });
}

std::string near_name(const std::string& name, const DeviceSearch& search) {
  const std::vector<std::string> names = names_in(search);
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string word = config_name_of(name);
  if (is_other_hardware(word))
    return "hlosim models TPUs only; `hlosim devices` lists them, and docs/devices.md describes files of "
           "your own";
  std::string generation = nearest_generation(word, search);
  return generation.empty() ? did_you_mean(word, views) : generation;
}

class Files {
 public:
  Files(const DeviceSearch& search, DiagnosticList& problems) : search_(search), problems_(problems) {}

  /// The file that `name` leads to. `beside` (or null) is the file that extends it; `at` is where.
  SourcePtr open(const std::string& name, const SourceFile* beside, const Value* at) {
    std::vector<std::string> tried;
    if (!beside && name == "-") return read(name, at);
    if (!beside || !is_builtin(*beside)) {
      const std::string path =
          find_config_file(name, {beside ? beside->name() : std::string(), search_.directories}, tried);
      if (!path.empty()) return read(path, at);
    }
    if (const BuiltinConfig* config = find_builtin(name)) return builtin_source(*config);
    if (!beside) {
      if (std::optional<NamedFile> named = find_named_file(name, search_)) {
        named_ = true;
        return named->source;
      }
    }
    const std::vector<std::string> builtins = builtin_devices();
    report(at,
           fmt::format("no device file \"{}\": tried {}{}the built-in {}", shown(name),
                       fmt::join(tried, ", "), tried.empty() ? "" : " and ", fmt::join(builtins, " ")),
           near_name(name, search_));
    return nullptr;
  }

  /// open() found a file by the names that it states.
  bool by_name() const { return named_; }

  /// `source` with all that it extends. `chain` holds the files that led here.
  std::optional<DeviceTree> load(const SourcePtr& source, std::vector<std::string> chain) {
    std::optional<Value> root = parse_yaml(source, problems_);
    if (!root) return std::nullopt;
    if (!root->is_map()) {
      problems_.add(error_at(*root, fmt::format("expected a device's keys, found {}", described(*root))));
      return std::nullopt;
    }
    chain.push_back(identity(*source));
    DeviceTree tree;
    tree.label = source->name();
    tree.builtin = is_builtin(*source);
    tree.abstract = take_abstract(*root);
    std::optional<Value> extends = take(*root, "extends");
    attach_sources(*root, problems_);
    root->offset = root->key_offset = 0;
    if (extends) {
      std::optional<DeviceTree> base = load_base(*extends, *source, chain);
      if (!base) return std::nullopt;
      tree.root = std::move(base->root);
      tree.base = std::move(base->base);
      tree.files = std::move(base->files);
      merge(tree.root, *root);
    } else {
      tree.root = std::move(*root);
    }
    if (tree.builtin)
      tree.base = tree.root;
    else
      tree.files.push_back(tree.label);
    return tree;
  }

 private:
  void report(const Value* at, std::string message, std::string hint) {
    Diagnostic diagnostic;
    if (at)
      diagnostic = error_at(*at, std::move(message), std::move(hint));
    else
      diagnostic = failure(std::move(message), std::move(hint)).value();
    problems_.add(std::move(diagnostic));
  }

  SourcePtr read(const std::string& path, const Value* at) {
    Result<SourcePtr> source = read_config_file(path);
    if (source) return *source;
    report(at, source.error().message, source.error().hint);
    return nullptr;
  }

  static std::optional<Value> take(Value& root, std::string_view key) {
    const Value* found = root.find(key);
    if (!found) return std::nullopt;
    Value out = *found;
    std::erase_if(root.items, [&](const Value& item) { return item.key == key; });
    return out;
  }

  bool take_abstract(Value& root) {
    const std::optional<Value> value = take(root, "abstract");
    if (!value) return false;
    if (!value->is_scalar() || (value->text != "true" && value->text != "false"))
      problems_.add(
          error_at(*value, fmt::format("abstract: expected true or false, found {}", described(*value))));
    return value->text == "true";
  }

  std::optional<DeviceTree> load_base(const Value& extends, const SourceFile& from,
                                      const std::vector<std::string>& chain) {
    if (!extends.is_scalar() || extends.text.empty()) {
      problems_.add(
          error_at(extends, fmt::format("extends: expected a device file, found {}", described(extends))));
      return std::nullopt;
    }
    const SourcePtr base = open(extends.text, &from, &extends);
    if (!base) return std::nullopt;
    const auto seen = std::find(chain.begin(), chain.end(), identity(*base));
    if (seen == chain.end()) return load(base, chain);
    std::string circle;
    for (auto file = seen; file != chain.end(); ++file) circle += file_name_of(*file) + " -> ";
    problems_.add(
        error_at(extends, fmt::format("extends: goes round in a circle: {}{}", circle, file_name_of(*seen))));
    return std::nullopt;
  }

  const DeviceSearch& search_;
  DiagnosticList& problems_;
  bool named_ = false;
};

}  // namespace

bool is_abstract(const BuiltinConfig& config) {
  DiagnosticList ignored;
  const std::optional<Value> root = parse_yaml(builtin_source(config), ignored);
  const Value* abstract = root ? root->find("abstract") : nullptr;
  return abstract && abstract->text == "true";
}

bool is_builtin(const SourceFile& source) { return source.name().ends_with(kBuiltinSuffix); }

std::optional<DeviceTree> read_device_tree(const std::string& name, const DeviceSearch& search,
                                           DiagnosticList& problems) {
  Files files(search, problems);
  const SourcePtr source = files.open(name, nullptr, nullptr);
  if (!source) return std::nullopt;
  std::optional<DeviceTree> tree = read_device_tree(source, search, problems);
  if (tree && files.by_name()) tree->name = name;
  return tree;
}

std::optional<DeviceTree> read_device_tree(const SourcePtr& source, const DeviceSearch& search,
                                           DiagnosticList& problems) {
  const size_t before = problems.error_count();
  std::optional<DeviceTree> tree = Files(search, problems).load(source, {});
  if (problems.error_count() != before) return std::nullopt;
  return tree;
}

}  // namespace hlosim
