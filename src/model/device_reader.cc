#include "model/device_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/number_text.h"
#include "base/quantity_text.h"
#include "base/text.h"
#include "model/device_text_form.h"

namespace hlosim {

const DeviceValue* DeviceReading::value(std::string_view path) const {
  for (const DeviceValue& entry : values)
    if (entry.path == path) return &entry;
  return nullptr;
}

namespace {

constexpr std::string_view kSourceWords[] = {"published", "inferred", "calibrated",
                                             "guess",     "override", "default"};

}  // namespace

std::string_view to_text(SourceClass source_class) { return kSourceWords[static_cast<size_t>(source_class)]; }

std::optional<SourceClass> parse_source_class(std::string_view source) {
  const size_t colon = source.find(':');
  if (colon == std::string_view::npos || source.find_first_not_of(' ', colon + 1) == std::string_view::npos)
    return std::nullopt;
  for (int i = 0; i < kSourceClassCount; ++i)
    if (source.substr(0, colon) == kSourceWords[i]) return static_cast<SourceClass>(i);
  return std::nullopt;
}

namespace {

bool check_source(const Value& source, DiagnosticList& problems) {
  if (source.is_scalar() && parse_source_class(source.text)) return true;
  // What a file may say; "override" is what --set leaves behind in a printed configuration.
  const std::span<const std::string_view> words(kSourceWords, 4);
  const std::string_view text = source.text;
  problems.add(
      error_at(source,
               fmt::format("a source is \"published: ...\", \"inferred: ...\", \"calibrated: ...\" or "
                           "\"guess: ...\" with words after the colon, found {}",
                           described(source)),
               parse_source_class(fmt::format("{}: x", text.substr(0, text.find(':'))))
                   ? ""
                   : did_you_mean(text.substr(0, text.find(':')), words)));
  return false;
}

void attach(Value& node, const std::string& inherited, DiagnosticList& problems) {
  if (!node.is_map()) {
    node.annotation = inherited;
    return;
  }
  std::string source = inherited;
  if (const Value* own = node.find("source")) {
    if (check_source(*own, problems))
      source = own->text;
    else
      source = "guess: see the error above";  // one error is enough
    if (node.items.size() == 1) problems.add(error_at_key(*own, "a source without a value"));
    std::erase_if(node.items, [](const Value& item) { return item.key == "source"; });
  }
  const Value* value = node.find("value");
  if (!value) {
    for (Value& item : node.items) attach(item, source, problems);
    return;
  }
  for (const Value& item : node.items)
    if (item.key != "value")
      problems.add(error_at_key(item, fmt::format("unknown key \"{}\" next to \"value\"", shown(item.key)),
                                "a value has no other key than \"source\""));
  Value leaf = *value;
  leaf.annotation = source;
  leaf.key = node.key;
  leaf.key_offset = node.key_offset;
  node = std::move(leaf);
}

}  // namespace

void attach_sources(Value& root, DiagnosticList& problems) { attach(root, "", problems); }

namespace {

std::string quoted_list(std::span<const std::string_view> words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

class Reader {
 public:
  Reader(DeviceReading& out, DiagnosticList& problems) : out_(out), problems_(problems) {}

  /// Requires: `node` is a map, or an error is due.
  template <class T>
  void section(const Value& node, T& object, const std::string& path) {
    if (!node.is_map()) {
      problems_.add(error_at(node, fmt::format("{}: expected a section of keys, found {}",
                                               path.empty() ? "device" : path, described(node))));
      return;
    }
    std::vector<std::string_view> keys;
    T::fields(object, [&](std::string_view key, auto&, std::string_view, std::optional<Range> = {}) {
      keys.push_back(key);
    });
    out_.sections.push_back({path, node.source, node.key_offset});
    const std::vector<std::string_view> meant = unknown_keys(node, keys, path);
    std::vector<std::pair<std::string_view, std::string_view>> missing;  // key, doc
    T::fields(object, [&]<class F>(std::string_view key, F& member, std::string_view doc,
                                   std::optional<Range> range = {}) {
      if (const Value* item = node.find(key)) {
        read(*item, member, join_path(path, key), doc, range);
      } else if (!OptionalField<F> && !KeyedList<F> &&
                 std::find(meant.begin(), meant.end(), key) == meant.end()) {
        missing.emplace_back(key, doc);
      }
    });
    if (!missing.empty()) report_missing(node, missing, path);
  }

 private:
  static std::string in(const std::string& path) { return path.empty() ? "" : fmt::format(" in {}", path); }

  void report_missing(const Value& node,
                      std::span<const std::pair<std::string_view, std::string_view>> missing,
                      const std::string& path) {
    std::string text;
    for (const auto& [key, doc] : missing) text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", key);
    text = missing.size() == 1 ? fmt::format("missing key {}{}: {}", text, in(path), missing.front().second)
                               : fmt::format("missing keys{}: {}", in(path), text);
    problems_.add(error_at(node.source, node.key_offset, std::move(text)));
  }

  /// Reports the keys of `node` that aren't `keys`; returns those that were probably meant.
  std::vector<std::string_view> unknown_keys(const Value& node, std::span<const std::string_view> keys,
                                             const std::string& path) {
    std::vector<std::string_view> meant;
    for (const Value& item : node.items) {
      if (std::find(keys.begin(), keys.end(), item.key) != keys.end()) continue;
      const std::string_view near = nearest(item.key, keys);
      if (!near.empty()) meant.push_back(near);
      problems_.add(error_at_key(item, fmt::format("unknown key \"{}\"{}", shown(item.key), in(path)),
                                 near.empty() ? "the keys here are " + quoted_list(keys)
                                              : fmt::format("did you mean \"{}\"?", near)));
    }
    return meant;
  }

  template <class T>
  void read(const Value& node, T& member, const std::string& path, std::string_view doc,
            std::optional<Range> range) {
    if (node.is_null()) {
      problems_.add(error_at(node, fmt::format("{}: has no value: {}", path, doc)));
    } else if constexpr (HasFields<T>) {
      section(node, member, path);
    } else if constexpr (KeyedList<T>) {
      keyed(node, member, path);
    } else if constexpr (OptionalSection<T>) {
      section(node, member.emplace(), path);
    } else if constexpr (OptionalField<T>) {
      typename T::value_type value{};
      if (leaf(node, value, path, doc, range)) member = value;
    } else {
      leaf(node, member, path, doc, range);
    }
  }

  template <class T>
  void keyed(const Value& node, std::vector<T>& items, const std::string& path) {
    if (!node.is_map()) {
      problems_.add(error_at(node, fmt::format("{}: expected a section with one key per item, found {}", path,
                                               described(node))));
      return;
    }
    out_.sections.push_back({path, node.source, node.key_offset});
    for (const Value& item : node.items) {
      T value;
      using Key = std::remove_cvref_t<decltype(T::key(value))>;
      auto key = TextForm<Key>::read(item.key);
      if (!key) {
        problems_.add(error_at_key(item, fmt::format("{}: {}", path, key.error().message), key.error().hint));
        continue;
      }
      if (item.key.find_first_of(". =") != std::string::npos) {
        problems_.add(error_at_key(
            item, fmt::format("{}: the name \"{}\" has a blank, dot or '=' in it", path, shown(item.key))));
        continue;
      }
      T::key(value) = *key;
      section(item, value, join_path(path, item.key));
      items.push_back(std::move(value));
    }
  }

  /// The text of a leaf's value: a scalar, or a list of scalars where T is a list.
  template <class T>
  std::optional<std::string> leaf_text(const Value& node, const std::string& path) {
    if (node.is_scalar()) return node.text;
    bool fine = node.is_list() && kIsList<T>;
    std::string text;
    for (const Value& item : node.items) {
      fine = fine && item.is_scalar();
      text += (text.empty() ? "" : ", ") + item.text;
    }
    if (fine) return text;
    problems_.add(error_at(
        node, fmt::format("{}: expected {}, found {}", path, TextForm<T>::expects(),
                          node.is_list() && kIsList<T> ? "a list of something else" : described(node))));
    return std::nullopt;
  }

  template <class T>
  bool leaf(const Value& node, T& member, const std::string& path, std::string_view doc,
            std::optional<Range> range) {
    const std::optional<std::string> text = leaf_text<T>(node, path);
    if (!text) return false;
    Result<T> value = TextForm<T>::read(*text);
    const std::string_view huge = value ? std::string_view() : number_beyond<T>(*text, range);
    if (!huge.empty() && report_limits<T>(node, path, fmt::format("\"{}\"", shown(huge)), range))
      return false;
    if (!value) {
      problems_.add(error_at(node, fmt::format("{}: {}", path, value.error().message), value.error().hint));
      return false;
    }
    if (!in_range(node, *value, path, range)) return false;

    DeviceValue entry;
    entry.path = path;
    entry.text = TextForm<T>::write(*value);
    entry.doc = doc;
    entry.file = node.source;
    entry.offset = node.offset;
    entry.has_source = !std::is_same_v<T, std::string>;
    if (entry.has_source) {
      const auto source_class = parse_source_class(node.annotation);
      if (!source_class) {
        problems_.add(
            error_at(node, fmt::format("{}: no source is given for {}", path, entry.text),
                     fmt::format("write {{value: {}, source: \"published: ...\"}}, or give its section a "
                                 "source",
                                 entry.text)));
        return false;
      }
      entry.source_class = *source_class;
      entry.source = node.annotation;
    }
    out_.values.push_back(std::move(entry));
    member = std::move(*value);
    return true;
  }

  /// Of a text that isn't a T: the number, or the one of a list, that is larger than all of them; empty:
  /// none.
  template <class T>
  static std::string_view number_beyond(std::string_view text, std::optional<Range> range) {
    if constexpr (kIsList<T>) {
      for (; !text.empty(); text.remove_prefix(std::min(text.find(','), text.size() - 1) + 1)) {
        const std::string_view item = trimmed(text.substr(0, text.find(',')));
        if (const auto found = number_beyond<typename T::value_type>(item, range); !found.empty())
          return found;
      }
    } else if constexpr (NumberForm<T>) {
      if (const auto number = leading_number(trimmed(text)); number && std::isinf(number->value)) return text;
      const Result<double> number = internal::read_double(text, TextForm<T>::dimension);
      if (number && *number > range.value_or(TextForm<T>::range).high) return text;
    }
    return {};
  }

  /// False: the limits depend on the unit, or there are none.
  template <class T>
  bool report_limits(const Value& node, const std::string& path, const std::string& found,
                     std::optional<Range> range) {
    if constexpr (NumberForm<T>) {
      const Range limits = range.value_or(TextForm<T>::range);
      problems_.add(error_at(node, fmt::format("{}: {} is out of range; expected {} to {}", path, found,
                                               internal::write_number(limits.low, TextForm<T>::dimension),
                                               internal::write_number(limits.high, TextForm<T>::dimension))));
      return true;
    } else if constexpr (kIsList<T>) {
      return report_limits<typename T::value_type>(node, path, found, range);
    } else {
      return false;
    }
  }

  template <class T>
  bool in_range(const Value& node, const T& value, const std::string& path, std::optional<Range> range) {
    if constexpr (NumberForm<T>) {
      const Range limits = range.value_or(TextForm<T>::range);
      const double number = TextForm<T>::number(value);
      if (number >= limits.low && number <= limits.high) return true;
      report_limits<T>(node, path, TextForm<T>::write(value), range);
      return false;
    } else if constexpr (kIsList<T>) {
      return std::all_of(value.begin(), value.end(),
                         [&](const auto& item) { return in_range(node, item, path, range); });
    } else {
      return true;
    }
  }

  DeviceReading& out_;
  DiagnosticList& problems_;
};

}  // namespace

std::optional<DeviceReading> read_device(const Value& root, DiagnosticList& problems) {
  const size_t before = problems.error_count();
  DeviceReading out;
  Reader(out, problems).section(root, out.config, "");
  if (problems.error_count() == before) validate_device(out, problems);
  if (problems.error_count() != before) return std::nullopt;
  return out;
}

NamesConfig read_names(Value root) {
  DiagnosticList ignored;
  attach_sources(root, ignored);
  NamesConfig names;
  DeviceReading out;
  if (const Value* section = root.find("names")) Reader(out, ignored).section(*section, names, "names");
  return names;
}

}  // namespace hlosim
