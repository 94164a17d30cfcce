// Grammars of the attribute values that a module keeps as written: metadata, frontend attributes,
// shardings, accuracies.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "hlo/attr_reader.h"

namespace hlosim {
namespace {

/// `key=` with nothing between.
bool scan_key(Cursor& in, std::string_view& key, const char* what) {
  in.skip();
  key = in.word();
  if (key.empty() || in.raw() != '=') return in.fail(fmt::format("expects {}, but sees {}", what, in.here()));
  in.seek(in.offset() + 1);
  return true;
}

}  // namespace

bool scan_metadata(Cursor& in) {
  static constexpr std::string_view kStrings[] = {"deduplicated_name", "metadata_payload", "op_name",
                                                  "op_type",           "scheduling_name",  "source_file"};
  static constexpr std::string_view kKeys[] = {
      "deduplicated_name", "metadata_payload", "op_name",       "op_type",           "preserve_layout",
      "profile_type",      "scheduling_name",  "source_column", "source_end_column", "source_end_line",
      "source_file",       "source_line",      "stack_frame_id"};
  if (!in.need('{', "at the start of metadata")) return false;
  uint32_t seen = 0;
  std::string_view ignored;
  while (!in.eat('}')) {
    in.eat(',');
    in.skip();
    const size_t at = in.offset();
    std::string_view key;
    if (!scan_key(in, key, "a metadata key")) return false;
    const size_t index = static_cast<size_t>(std::find(std::begin(kKeys), std::end(kKeys), key) - kKeys);
    if (index == std::size(kKeys))
      return in.fail_at(at, fmt::format("unexpected attribute \"{}\" in metadata", shown(key)),
                        did_you_mean(key, kKeys));
    if (seen & (1u << index)) return in.fail_at(at, fmt::format("metadata key {} already exists", key));
    seen |= 1u << index;
    bool ok = false;
    if (std::find(std::begin(kStrings), std::end(kStrings), key) != std::end(kStrings)) {
      ok = in.string(ignored);
    } else if (key == "profile_type") {
      std::vector<int64_t> values;
      ok = in.ints(values);
    } else if (key == "preserve_layout") {
      bool value = false;
      ok = in.boolean(value);
    } else {
      int64_t value = 0;
      ok = in.integer(value);
    }
    if (!ok) return false;
  }
  return true;
}

bool scan_frontend_attributes(Cursor& in) {
  if (!in.need('{', "at the start of frontend attributes")) return false;
  if (in.eat('}')) return true;
  do {
    std::string_view key, ignored;
    if (!scan_key(in, key, "the key of a frontend attribute")) return false;
    if (in.peek() == '{' ? !in.braces(ignored) : !in.string(ignored)) return false;
  } while (in.eat(','));
  return in.need('}', "at the end of frontend attributes");
}

bool scan_accuracy(Cursor& in) {
  if (!in.need('{', "at the start of the result accuracy")) return false;
  in.skip();
  const size_t at = in.offset();
  std::string_view key;
  if (!scan_key(in, key, "mode= or tolerance=")) return false;
  if (key == "mode") {
    in.skip();
    const size_t word_at = in.offset();
    std::string word(in.word());
    std::transform(word.begin(), word.end(), word.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    if (word != "default" && word != "highest")
      return in.fail_at(word_at, fmt::format("expects a result accuracy, but sees: {}", shown(word)),
                        "default or highest");
  } else if (key == "tolerance") {
    if (!in.need('{', "at the start of the tolerance")) return false;
    while (!in.eat('}')) {
      in.eat(',');
      in.skip();
      const size_t field_at = in.offset();
      std::string_view field, ignored;
      if (!scan_key(in, field, "atol=, rtol= or ulps=")) return false;
      if (field != "atol" && field != "rtol" && field != "ulps")
        return in.fail_at(field_at, fmt::format("invalid attribute name in tolerance: {}", shown(field)),
                          "atol, rtol or ulps");
      if (!in.number(ignored)) return false;
    }
  } else {
    return in.fail_at(at, fmt::format("invalid attribute name in result_accuracy: {}", shown(key)),
                      "mode or tolerance");
  }
  return in.need('}', "at the end of the result accuracy");
}

bool scan_statistics(Cursor& in) {
  if (!in.need('{', "at the start of the statistics")) return false;
  if (in.eat('}')) return true;
  std::string_view name, ignored;
  int64_t index = 0;
  if (!scan_key(in, name, "visualizing_index=") || !in.integer(index)) return false;
  while (in.eat(','))
    if (!scan_key(in, name, "the name of a statistic") || !in.number(ignored)) return false;
  return in.need('}', "at the end of the statistics");
}

bool scan_origin(Cursor& in) {
  constexpr std::string_view kSynthetic = "synthetic_call";
  if (!in.need('{', "at the start of the origin")) return false;
  if (in.eat('[')) {
    in.skip();
    const size_t at = in.offset();
    if (in.word() != kSynthetic) return in.fail_at(at, "expects synthetic_call in the origin");
    return in.need(']', "behind synthetic_call") && in.need('}', "at the end of the origin");
  }
  while (!in.eat('}')) {
    if (in.eat('(') || in.eat(')') || in.eat(',')) continue;
    if (!in.need('{', "at the start of a value of the origin")) return false;
    if (in.eat('}')) continue;
    std::string_view name;
    if (!in.string(name)) return false;
    std::vector<int64_t> index;
    if (in.peek() == '{' && !in.ints(index)) return false;
    if (!in.need('}', "at the end of a value of the origin")) return false;
  }
  return true;
}

bool scan_debug_attributes(Cursor& in) {
  in.skip();
  const size_t start = in.offset();
  std::string_view text;
  if (!in.braces(text)) return false;
  constexpr std::string_view kMode = "log_mode=";
  for (size_t at = text.find(kMode); at != std::string_view::npos; at = text.find(kMode, at + 1)) {
    std::string_view mode = text.substr(at + kMode.size());
    mode = mode.substr(
        0, std::min(mode.size(), mode.find_first_not_of(
                                     "abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")));
    if (mode != "default" && mode != "fusion_debugger")
      return in.fail_at(start + at, fmt::format("invalid log_mode '{}'", shown(mode)),
                        "default or fusion_debugger");
  }
  return true;
}

/// In quotes, or a word without them.
bool scan_axis_name(Cursor& in, std::string_view& name) {
  if (Cursor::starts_word(in.peek())) {
    name = in.word();
    return true;
  }
  if (!in.string(name)) return false;
  name = name.substr(1, name.size() - 2);
  return true;
}

bool scan_mesh(Cursor& in, std::vector<std::string_view>& axes) {
  const std::string_view kind = in.word();
  if (!in.need('[', "after the mesh")) return false;
  int64_t value = 0;
  if (kind == "maximal_mesh") {
    if (!in.eat("device_id=")) return in.fail(fmt::format("expects device_id=, but sees {}", in.here()));
    return in.integer(value) && in.need(']', "at the end of the mesh");
  }
  int64_t total = 1;
  if (!in.eat(']')) {
    do {
      std::string_view axis;
      if (!scan_axis_name(in, axis)) return false;
      axes.push_back(axis);
      if (!in.need('=', "after the axis name")) return false;
      if (!in.integer(value)) return false;
      if (__builtin_mul_overflow(total, value, &total)) return in.fail("the mesh is too large");
    } while (in.eat(','));
    if (!in.need(']', "at the end of the mesh")) return false;
  }
  const size_t before = in.offset();
  if (!in.eat(',')) return true;
  if (!in.eat("device_ids=")) {
    in.seek(before);
    return true;
  }
  std::vector<int64_t> ids;
  in.skip();
  const size_t at = in.offset();
  if (!in.need('(', "before the device ids")) return false;
  if (in.peek() == '[') {
    if (!in.ints(ids, '[', ']')) return false;
    std::vector<int64_t> transpose;
    if (in.eat('T') && !in.ints(transpose, '(', ')')) return false;
    return in.need(')', "after the device ids");
  }
  in.seek(at);
  if (!in.ints(ids, '(', ')')) return false;
  if (static_cast<int64_t>(ids.size()) != total)
    return in.fail_at(at, fmt::format("expected {} device ids, got {}", total, ids.size()));
  return true;
}

namespace {

bool scan_axis(Cursor& in, const std::vector<std::string_view>& axes) {
  in.skip();
  const size_t at = in.offset();
  std::string_view axis;
  if (!scan_axis_name(in, axis)) return false;
  if (std::find(axes.begin(), axes.end(), axis) == axes.end()) {
    const bool number =
        !axis.empty() && axis.size() < 10 && std::all_of(axis.begin(), axis.end(), Cursor::is_digit);
    if (!number) return in.fail_at(at, fmt::format("axis '{}' is not an axis of the mesh", shown(axis)));
    if (std::stoul(std::string(axis)) >= axes.size())
      return in.fail_at(
          at, fmt::format("axis index {} is out of bounds for the mesh of {} axes", axis, axes.size()));
  }
  if (!in.eat(':')) return true;
  int64_t value = 0;
  return in.need('(', "before the pre-size") && in.integer(value) && in.need(')', "after the pre-size") &&
         in.integer(value);
}

bool scan_metadatas(Cursor& in) {
  in.skip();
  const size_t start = in.offset();
  if (!in.need('{', "at the start of metadata")) return false;
  const bool several = in.peek() == '{';
  if (!several) {
    in.seek(start);
    return scan_metadata(in);
  }
  do {
    if (!scan_metadata(in)) return false;
  } while (in.eat(','));
  return in.need('}', "at the end of the metadata list");
}

/// Each of 0 to `count` - 1 once; of one dimension nothing has to be said.
bool is_order(std::vector<int64_t> order, size_t count) {
  if (order.empty() && count <= 1) return true;
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i] != static_cast<int64_t>(i)) return false;
  return order.size() == count;
}

bool scan_tile_assignment(Cursor& in) {
  in.skip();
  const size_t start = in.offset();
  std::vector<int64_t> dimensions, reshape, transpose;
  if (!in.ints(dimensions, '[', ']')) return false;
  int64_t tiles = 1;
  for (const int64_t d : dimensions)
    if (__builtin_mul_overflow(tiles, d, &tiles))
      return in.fail_at(start, "the tile assignment is too large");
  if (in.eat("<=")) {
    if (!in.ints(reshape, '[', ']')) return false;
    if (reshape.size() > 1 && !in.eat('T'))
      return in.fail(fmt::format("expects a transpose T(...), but sees {}", in.here()));
    if (reshape.size() > 1 && !in.ints(transpose, '(', ')')) return false;
    int64_t devices = 1;
    for (const int64_t d : reshape)
      if (__builtin_mul_overflow(devices, d, &devices)) return in.fail_at(start, "the iota is too large");
    if (!is_order(transpose, reshape.size()))
      return in.fail_at(start, fmt::format("T({}) is not an order of {} dimensions",
                                           fmt::join(transpose, ","), reshape.size()));
    if (devices == tiles) return true;
    return in.fail_at(
        start, fmt::format("the iota's size {} does not match the tile assignment's {}", devices, tiles));
  }
  int64_t count = 0, device = 0;
  for (;;) {
    if (!in.integer(device, "a device number")) return false;
    ++count;
    const size_t before = in.offset();
    if (in.eat(',') && (Cursor::is_digit(in.peek()) || in.peek() == '-')) continue;
    in.seek(before);
    break;
  }
  if (count == tiles) return true;
  return in.fail_at(
      start, fmt::format("the sharding lists {} devices, but its tile assignment has {}", count, tiles));
}

bool scan_named_sharding(Cursor& in) {
  std::vector<std::string_view> axes;
  if (!scan_mesh(in, axes)) return false;
  while (!in.eat('}')) {
    if (in.eat(',')) continue;
    if (in.eat('[')) {
      if (in.eat(']')) continue;
      do {
        if (!in.need('{', "at the start of a dimension's axes")) return false;
        if (in.eat('}')) continue;
        do {
          if (!in.eat('?') && !scan_axis(in, axes)) return false;
        } while (in.eat(','));
        if (!in.need('}', "at the end of a dimension's axes")) return false;
      } while (in.eat(','));
      if (!in.need(']', "at the end of the dimensions")) return false;
    } else if (in.peek() == '{') {
      if (!scan_axis_list(in, axes)) return false;
    } else {
      const std::string_view field = in.word();
      if (field.empty())
        return in.fail(fmt::format("expects a field of the sharding, but sees {}", in.here()));
      if (in.raw() == '=') {
        in.seek(in.offset() + 1);
        if (field == "metadata" && !scan_metadatas(in)) return false;
        if (field == "unreduced" && in.peek() == '[') continue;
      } else if (in.raw() == '[') {  // unreduced[max]
        in.seek(in.offset() + 1);
        in.word();
        if (!in.need(']', "after the reduction")) return false;
      }
    }
  }
  return true;
}

/// Until 2018 a sharding began with the shape of its tile: {s32[5,6] devices=[2,3]…}.
void skip_old_tile_shape(Cursor& in) {
  in.skip();
  const size_t start = in.offset();
  std::vector<int64_t> ignored;
  const bool shape =
      parse_element_type(in.word()) != ElementType::kInvalid && in.raw() == '[' && in.ints(ignored, '[', ']');
  if (!shape) in.seek(start);
  in.clear_error();
}

bool scan_single_sharding(Cursor& in) {
  static constexpr std::string_view kFields[] = {"device",         "devices",    "last_tile_dim_replicate",
                                                 "last_tile_dims", "manual",     "maximal",
                                                 "metadata",       "replicated", "shard_as",
                                                 "shard_like",     "unknown",    "unreduced"};
  skip_old_tile_shape(in);
  if (in.at("mesh[") || in.at("maximal_mesh[") || in.at("mesh ")) return scan_named_sharding(in);
  bool any = false;
  while (!in.eat('}')) {
    in.skip();
    const size_t at = in.offset();
    const std::string_view field = in.word();
    const bool value = in.raw() == '=';
    if (value) in.seek(in.offset() + 1);
    int64_t number = 0;
    bool ok = true;
    any = true;
    if (field == "maximal" || field == "replicated" || field == "manual" || field == "unknown" ||
        field == "unreduced" || field == "last_tile_dim_replicate") {
      ok = !value || in.fail_at(at, fmt::format("{} takes no value in a sharding", field));
    } else if (field == "shard_as" || field == "shard_like" || (field == "device" && value)) {
      ok = in.integer(number);
    } else if (field == "devices" && value) {
      ok = scan_tile_assignment(in);
    } else if (field == "metadata" && value) {
      ok = scan_metadatas(in);
    } else if (field == "last_tile_dims" && value) {
      ok = in.need('{', "at the start of last_tile_dims");
      while (ok && !in.eat('}')) {
        const std::string_view type = in.word();
        if (type != "maximal" && type != "replicated" && type != "manual" && type != "unreduced")
          return in.fail(fmt::format("expects a sharding type, but sees {}", in.here()));
        in.eat(',');
      }
    } else if (field.empty()) {
      return in.fail(fmt::format("expects a field of the sharding, but sees {}", in.here()));
    } else {
      return in.fail_at(at, fmt::format("unknown attribute '{}' in sharding", shown(field)),
                        did_you_mean(field, kFields));
    }
    if (!ok) return false;
  }
  if (any) return true;
  return in.fail("a sharding that is not maximal must have a tile assignment");
}

}  // namespace

bool scan_axis_list(Cursor& in, const std::vector<std::string_view>& axes) {
  if (!in.need('{', "at the start of the axes")) return false;
  if (in.eat('}')) return true;
  do {
    if (!scan_axis(in, axes)) return false;
  } while (in.eat(','));
  return in.need('}', "at the end of the axes");
}

bool scan_sharding(Cursor& in) {
  if (!in.need('{', "at the start of a sharding")) return false;
  if (in.eat('}')) return true;
  if (in.peek() != '{') return scan_single_sharding(in);
  do {
    if (!in.need('{', "at the start of a tuple element's sharding")) return false;
    if (!scan_single_sharding(in)) return false;
  } while (in.eat(','));
  return in.need('}', "at the end of a sharding");
}

}  // namespace hlosim
