// How the types of a device file that aren't plain quantities are written: enumerations, element
// types, slices ("2x2x1"), rates per second or per cycle, lists ("[1.6 GHz, 1.9 GHz]").
//
//   TextForm<WrapRule>::read("full_axis");     // WrapRule::kFullAxis
//   TextForm<WrapRule>::write(WrapRule::kNever);  // "never"
//   TextForm<WrapRule>::expects();            // "one of never, full_axis, cubes, always"
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quantity_text.h"
#include "base/text.h"
#include "model/device.h"

namespace hlosim {

template <class E>
struct EnumNames;  // static constexpr std::pair<E, std::string_view> rows[]; what

template <>
struct EnumNames<MemoryScope> {
  static constexpr std::string_view what = "a scope";
  static constexpr std::pair<MemoryScope, std::string_view> rows[] = {
      {MemoryScope::kCore, "core"}, {MemoryScope::kDevice, "device"}, {MemoryScope::kHost, "host"}};
};
template <>
struct EnumNames<WrapRule> {
  static constexpr std::string_view what = "a wrap rule";
  static constexpr std::pair<WrapRule, std::string_view> rows[] = {{WrapRule::kNever, "never"},
                                                                   {WrapRule::kFullAxis, "full_axis"},
                                                                   {WrapRule::kCubes, "cubes"},
                                                                   {WrapRule::kAlways, "always"}};
};
template <>
struct EnumNames<RaggedWalk> {
  static constexpr std::string_view what = "a walk";
  static constexpr std::pair<RaggedWalk, std::string_view> rows[] = {
      {RaggedWalk::kGroups, "groups"}, {RaggedWalk::kVisits, "visits"}, {RaggedWalk::kServed, "served"}};
};
template <>
struct EnumNames<SecondMinorCompaction> {
  static constexpr std::string_view what = "a compaction";
  static constexpr std::pair<SecondMinorCompaction, std::string_view> rows[] = {
      {SecondMinorCompaction::kOff, "off"},
      {SecondMinorCompaction::kF32, "f32"},
      {SecondMinorCompaction::kPacked, "packed"}};
};

template <class T>
concept NamedEnum = requires {
  EnumNames<T>::rows;
};

template <NamedEnum E>
struct TextForm<E> {
  static std::string expects() {
    std::string out;
    for (const auto& [value, name] : EnumNames<E>::rows)
      out += fmt::format("{}{}", out.empty() ? "" : ", ", name);
    return "one of " + out;
  }
  static Result<E> read(std::string_view text) {
    std::vector<std::string_view> names;
    for (const auto& [value, name] : EnumNames<E>::rows) {
      if (name == text) return value;
      names.push_back(name);
    }
    return failure(fmt::format("\"{}\" is not {}; expected {}", shown(text), EnumNames<E>::what, expects()),
                   did_you_mean(text, names));
  }
  static std::string write(E value) {
    for (const auto& [row, name] : EnumNames<E>::rows)
      if (row == value) return std::string(name);
    return "?";
  }
};

template <>
struct TextForm<ElementType> {
  static std::string expects() { return "an element type such as bf16"; }
  static Result<ElementType> read(std::string_view text);
  static std::string write(ElementType value) { return std::string(to_text(value)); }
};

template <>
struct TextForm<Topology> {
  static std::string expects() { return "sides such as 4x4 or 2x2x1"; }
  static Result<Topology> read(std::string_view text);
  static std::string write(const Topology& value);
};

template <>
struct TextForm<Bandwidth> {
  static std::string expects();
  static Result<Bandwidth> read(std::string_view text);
  static std::string write(Bandwidth value);
};

/// "[a, b]"; the brackets may be left out.
template <class T>
struct TextForm<std::vector<T>> {
  static std::string expects() { return fmt::format("a list, each item {}", TextForm<T>::expects()); }
  static Result<std::vector<T>> read(std::string_view text) {
    if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
    std::vector<T> out;
    while (text.find_first_not_of(' ') != std::string_view::npos) {
      const size_t comma = std::min(text.find(','), text.size());
      std::string_view item = text.substr(0, comma);
      while (item.starts_with(' ')) item.remove_prefix(1);
      while (item.ends_with(' ')) item.remove_suffix(1);
      auto value = TextForm<T>::read(item);
      if (!value) return tl::unexpected<Diagnostic>(std::move(value.error()));
      out.push_back(*value);
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return out;
  }
  static std::string write(const std::vector<T>& value) {
    std::string out = "[";
    for (const T& item : value) out += (out.size() > 1 ? ", " : "") + TextForm<T>::write(item);
    return out + "]";
  }
};

template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;

// ── walking over a device's leaves ──

inline std::string join_path(const std::string& prefix, std::string_view key) {
  return prefix.empty() ? std::string(key) : fmt::format("{}.{}", prefix, key);
}

/// Calls visit(path, member, doc) for every leaf of `object`; members that are std::optional are
/// passed as such.
template <class T, class Visit>
void visit_leaves(T& object, const std::string& prefix, const Visit& visit) {
  std::remove_const_t<T>::fields(
      object, [&]<class F>(std::string_view key, F& member, std::string_view doc, std::optional<Range> = {}) {
        const std::string path = join_path(prefix, key);
        if constexpr (HasFields<F>) {
          visit_leaves(member, path, visit);
        } else if constexpr (OptionalSection<F>) {
          if (member) visit_leaves(*member, path, visit);
        } else if constexpr (KeyedList<F>) {
          using Item = typename std::remove_const_t<F>::value_type;
          for (auto& item : member) {
            using Key = std::remove_cvref_t<decltype(Item::key(item))>;
            visit_leaves(item, join_path(path, TextForm<Key>::write(Item::key(item))), visit);
          }
        } else {
          visit(path, member, doc);
        }
      });
}

}  // namespace hlosim
