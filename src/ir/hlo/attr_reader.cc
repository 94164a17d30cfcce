#include "hlo/attr_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "base/text.h"
#include "hlo/literal_reader.h"
#include "hlo/sharding_spelling.h"

namespace hlosim {
namespace {

/// Keys whose words are accepted in any case.
bool folds_case(AttrKey key) {
  return key == AttrKey::kAlgorithm || key == AttrKey::kApiVersion || key == AttrKey::kDistribution ||
         key == AttrKey::kOperandPrecision || key == AttrKey::kSchedule;
}

bool equal_folded(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

double Attr::number() const {
  check(AttrSyntax::kNumber);
  double value = 0;
  std::from_chars(text().data(), text().data() + text().size(), value);
  return value;
}

bool AttrReader::read(AttrKey key, AttrSyntax syntax, Attr& attr) {
  in_.skip();
  const size_t start = in_.offset();
  const bool ok = read_value(key, syntax, attr);
  attr.offset = static_cast<uint32_t>(start);
  return ok;
}

bool AttrReader::read_value(AttrKey key, AttrSyntax syntax, Attr& attr) {
  switch (syntax) {
    case AttrSyntax::kBool:
    case AttrSyntax::kInt:
    case AttrSyntax::kWord:
      return read_scalar(key, syntax, attr);
    case AttrSyntax::kWords:
      return read_words(key, attr);
    case AttrSyntax::kInts:
    case AttrSyntax::kInts1:
      return read_int_list(key, syntax, attr);
    case AttrSyntax::kIntLists:
    case AttrSyntax::kPairs:
      return read_int_lists(key, syntax, attr);
    case AttrSyntax::kBools:
    case AttrSyntax::kBoolOrBools:
      return read_bools(key, syntax, attr);
    case AttrSyntax::kSlices:
      return read_slices(key, attr);
    case AttrSyntax::kPadding:
      return read_padding(key, attr);
    case AttrSyntax::kComputation:
    case AttrSyntax::kComputations:
      return read_computations(key, syntax, attr);
    case AttrSyntax::kInstructions:
      return read_instructions(key, attr);
    case AttrSyntax::kWindow:
      return read_window(key, attr);
    case AttrSyntax::kDimLabels:
      return read_dim_labels(key, attr);
    case AttrSyntax::kShape:
    case AttrSyntax::kShapes:
    case AttrSyntax::kEntryLayout:
      return read_shapes(key, syntax, attr);
    case AttrSyntax::kLiteral:
      return read_literal(key, attr);
    case AttrSyntax::kReplicaGroups:
      return read_replica_groups(key, attr);
    case AttrSyntax::kAliases:
    case AttrSyntax::kDonors:
      return read_aliases(key, syntax, attr);
    case AttrSyntax::kNumber:
    case AttrSyntax::kString:
    case AttrSyntax::kConfig:
    case AttrSyntax::kSharding:
    case AttrSyntax::kMetadata:
    case AttrSyntax::kFrontend:
    case AttrSyntax::kAccuracy:
    case AttrSyntax::kBraces:
      return read_kept_text(key, syntax, attr);
  }
  return false;
}

bool AttrReader::read_scalar(AttrKey key, AttrSyntax syntax, Attr& attr) {
  if (syntax == AttrSyntax::kBool) {
    bool value = false;
    const bool ok = in_.boolean(value);
    attr = Attr::make_bool(key, value);
    return ok;
  }
  if (syntax == AttrSyntax::kInt) {
    int64_t value = 0;
    const bool ok = in_.integer(value);
    attr = Attr::make_int(key, value);
    return ok;
  }
  std::string_view word;
  const bool ok = read_word(key, word);
  attr = Attr::make_text(key, syntax, word);
  return ok;
}

bool AttrReader::read_shape(ShapeRef& shape) {
  in_.skip();
  size_t position = in_.offset();
  shape = shapes_.read(position);
  if (!shape) return in_.fail_at(shapes_.error_position(), shapes_.error(), shapes_.hint());
  in_.seek(position);
  return true;
}

bool AttrReader::read_word(AttrKey key, std::string_view& canonical) {
  in_.skip();
  const size_t start = in_.offset();
  const std::string_view word = in_.word();
  if (word.empty())
    return in_.fail(fmt::format("expects a word for {}, but sees {}", to_text(key), in_.here()));
  const auto allowed = attr_words(key);
  for (const std::string_view candidate : allowed) {
    if (candidate == word || (folds_case(key) && equal_folded(candidate, word))) {
      canonical = candidate;
      return true;
    }
  }
  return in_.fail_at(start, fmt::format("'{}' is not a value of {}", shown(word), to_text(key)),
                     fmt::format("expected one of: {}", fmt::join(allowed, ", ")));
}

bool AttrReader::read_words(AttrKey key, Attr& attr) {
  std::vector<std::string_view> words;
  if (!in_.need('{', "at the start of a list of words")) return false;
  if (!in_.eat('}')) {
    do {
      if (!read_word(key, words.emplace_back())) return false;
    } while (in_.eat(','));
    if (!in_.need('}', "at the end of a list of words")) return false;
  }
  attr = list(key, AttrSyntax::kWords, words);
  return true;
}

bool AttrReader::read_int_list(AttrKey key, AttrSyntax syntax, Attr& attr) {
  std::vector<int64_t> values;
  in_.skip();
  const size_t start = in_.offset();
  if (!in_.ints(values)) return false;
  if (syntax == AttrSyntax::kInts1 && values.size() != 1)
    return in_.fail_at(
        start, fmt::format("{} must have exactly one element, but has {}", to_text(key), values.size()));
  attr = list(key, syntax, values);
  return true;
}

bool AttrReader::read_int_lists(AttrKey key, AttrSyntax syntax, Attr& attr) {
  std::vector<std::span<const int64_t>> lists;
  if (!in_.need('{', "at the start of a list of lists")) return false;
  if (!in_.eat('}')) {
    do {
      std::vector<int64_t> values;
      in_.skip();
      const size_t start = in_.offset();
      if (!in_.ints(values)) return false;
      if (syntax == AttrSyntax::kPairs && values.size() != 2)
        return in_.fail_at(start, fmt::format("expects '{}=' to be a list of pairs", to_text(key)));
      lists.push_back(module_.arena().copy(values));
    } while (in_.eat(','));
    if (!in_.need('}', "at the end of a list of lists")) return false;
  }
  attr = list(key, syntax, lists);
  return true;
}

bool AttrReader::read_bools(AttrKey key, AttrSyntax syntax, Attr& attr) {
  std::vector<int64_t> values;
  bool value = false;
  if (syntax == AttrSyntax::kBoolOrBools && in_.peek() != '{') {
    if (!in_.boolean(value)) return false;
    values.push_back(value);
  } else {
    if (!in_.need('{', "at the start of a list of bools")) return false;
    if (!in_.eat('}')) {
      do {
        if (!in_.boolean(value)) return false;
        values.push_back(value);
      } while (in_.eat(','));
      if (!in_.need('}', "at the end of a list of bools")) return false;
    }
  }
  attr = list(key, syntax, values);
  return true;
}

bool AttrReader::read_slices(AttrKey key, Attr& attr) {
  std::vector<std::span<const int64_t>> slices;
  if (!in_.need('{', "at the start of the slices")) return false;
  if (!in_.eat('}')) {
    do {
      std::vector<int64_t> values;
      in_.skip();
      const size_t start = in_.offset();
      if (!in_.ints(values, '[', ']', ':')) return false;
      if (values.size() != 2 && values.size() != 3)
        return in_.fail_at(start, fmt::format("expects [start:limit:step] or [start:limit], but sees {}",
                                              shown(in_.since(start))));
      if (values.size() == 2) values.push_back(1);
      slices.push_back(module_.arena().copy(values));
    } while (in_.eat(','));
    if (!in_.need('}', "at the end of the slices")) return false;
  }
  attr = list(key, AttrSyntax::kSlices, slices);
  return true;
}

namespace {

/// `1`, `-2`: an integer without blanks inside a pattern such as 1_2x3_4.
bool pattern_integer(Cursor& in, int64_t& value) {
  if (in.raw() != '-' && !Cursor::is_digit(in.raw())) return false;
  return in.integer(value);
}

bool eat_raw(Cursor& in, char c) {
  if (in.raw() != c) return false;
  in.seek(in.offset() + 1);
  return true;
}

}  // namespace

bool AttrReader::read_padding(AttrKey key, Attr& attr) {
  std::vector<std::span<const int64_t>> dimensions;
  in_.skip();
  const size_t start = in_.offset();
  do {
    std::vector<int64_t> values(1);
    bool ok = pattern_integer(in_, values[0]);
    while (ok && values.size() < 3 && eat_raw(in_, '_')) ok = pattern_integer(in_, values.emplace_back());
    if (!ok || values.size() < 2)
      return in_.fail_at(start, "expects a padding config, e.g. '0_0_0x3_3_1'",
                         "low_high or low_high_interior for each dimension, joined by x");
    if (values.size() == 2) values.push_back(0);
    dimensions.push_back(module_.arena().copy(values));
  } while (eat_raw(in_, 'x'));
  attr = list(key, AttrSyntax::kPadding, dimensions);
  return true;
}

bool AttrReader::read_computations(AttrKey key, AttrSyntax syntax, Attr& attr) {
  std::vector<ComputationId> ids(1);
  if (syntax == AttrSyntax::kComputation) {
    if (!names_.read_computation(ids[0])) return false;
  } else {
    ids.clear();
    if (!in_.need('{', "at the start of a list of computations")) return false;
    if (!in_.eat('}')) {
      do {
        if (!names_.read_computation(ids.emplace_back())) return false;
      } while (in_.eat(','));
      if (!in_.need('}', "at the end of a list of computations")) return false;
    }
  }
  attr = list(key, syntax, ids);
  return true;
}

bool AttrReader::read_instructions(AttrKey key, Attr& attr) {
  std::vector<InstructionId> ids;
  if (!in_.need('{', "at the start of a list of instructions")) return false;
  if (!in_.eat('}')) {
    do {
      if (!names_.read_instruction(ids.emplace_back())) return false;
    } while (in_.eat(','));
    if (!in_.need('}', "at the end of a list of instructions")) return false;
  }
  attr = list(key, AttrSyntax::kInstructions, ids);
  return true;
}

bool AttrReader::read_window_field(std::string_view field, std::vector<int64_t>& values) {
  in_.skip();
  const size_t start = in_.offset();
  do {
    if (!pattern_integer(in_, values.emplace_back()))
      return in_.fail_at(
          start, fmt::format("expects {} in window '{}='",
                             field == "pad" ? "low_high pads joined by x" : "integers joined by x", field));
    if (field == "pad" &&
        (!eat_raw(in_, '_') || !pattern_integer(in_, values.emplace_back()) || in_.raw() == '_'))
      return in_.fail_at(start, "expects padding_low and padding_high separated by '_'");
  } while (eat_raw(in_, 'x'));
  return true;
}

bool AttrReader::read_window(AttrKey key, Attr& attr) {
  static constexpr std::string_view kFields[] = {"size",       "stride",     "pad",
                                                 "lhs_dilate", "rhs_dilate", "rhs_reversal"};
  std::vector<int64_t> values[std::size(kFields)];
  size_t offsets[std::size(kFields)] = {};
  if (!in_.need('{', "at the start of a window")) return false;
  const size_t start = in_.offset();
  while (!in_.eat('}')) {
    in_.skip();
    const size_t at = in_.offset();
    const std::string_view field = in_.word();
    const size_t which =
        static_cast<size_t>(std::find(std::begin(kFields), std::end(kFields), field) - kFields);
    if (field.empty()) return in_.fail(fmt::format("expects a field of the window, but sees {}", in_.here()));
    if (which == std::size(kFields))
      return in_.fail_at(at, fmt::format("unexpected window field '{}'", shown(field)),
                         did_you_mean(field, kFields));
    if (!eat_raw(in_, '=')) return in_.fail(fmt::format("expects '=' directly after '{}'", field));
    if (!values[which].empty())
      return in_.fail_at(at, fmt::format("window field '{}=' already exists", field));
    offsets[which] = at;
    if (!read_window_field(field, values[which])) return false;
  }
  const size_t rank = values[0].size();
  for (size_t i = 0; i < std::size(kFields); ++i) {
    const size_t expected = i == 2 ? 2 * rank : rank;
    if (!values[i].empty() && values[i].size() != expected)
      return in_.fail_at(
          offsets[i] ? offsets[i] : start,
          fmt::format("expects '{}=' to have the same number of dimensions as 'size='", kFields[i]));
  }
  std::vector<WindowDimension> dimensions(rank);
  for (size_t d = 0; d < rank; ++d) {
    WindowDimension& w = dimensions[d];
    w.size = values[0][d];
    if (!values[1].empty()) w.stride = values[1][d];
    if (!values[2].empty()) w.padding_low = values[2][2 * d], w.padding_high = values[2][2 * d + 1];
    if (!values[3].empty()) w.base_dilation = values[3][d];
    if (!values[4].empty()) w.window_dilation = values[4][d];
    if (!values[5].empty()) w.reversal = values[5][d] != 0;
  }
  const Window* window = module_.arena().make<Window>(Window{module_.arena().copy(dimensions)});
  attr = Attr::make_struct(key, AttrSyntax::kWindow, window);
  return true;
}

namespace {

/// Positions of each label of one operand. `letters` are its two non-spatial labels.
bool place_labels(std::string_view labels, std::string_view letters, int64_t (&positions)[2],
                  std::vector<int64_t>& spatial, std::string& error) {
  size_t spatial_count = 0;
  for (const char c : labels) spatial_count += c != '?' && letters.find(c) == std::string_view::npos;
  spatial.assign(spatial_count, -1);
  for (size_t i = 0; i < labels.size(); ++i) {
    const char c = labels[i];
    if (c == '?') continue;
    int64_t* place = nullptr;
    if (const size_t letter = letters.find(c); letter != std::string_view::npos)
      place = &positions[letter];
    else if (Cursor::is_digit(c) && static_cast<size_t>(c - '0') < spatial_count)
      place = &spatial[static_cast<size_t>(c - '0')];
    if (!place) {
      error = fmt::format("expects [0-{}{}?] in dimension numbers, but sees '{}'",
                          static_cast<int64_t>(spatial_count) - 1, letters, c);
      return false;
    }
    if (*place >= 0) {
      error = fmt::format("expects unique dimension numbers, but sees '{}' twice", c);
      return false;
    }
    *place = static_cast<int64_t>(i);
  }
  return true;
}

}  // namespace

bool AttrReader::read_dim_labels(AttrKey key, Attr& attr) {
  in_.skip();
  const size_t start = in_.offset();
  const auto labels = [&](std::string_view allowed) {
    const size_t from = in_.offset();
    while (Cursor::is_digit(in_.raw()) ||
           (in_.raw() != '\0' && allowed.find(in_.raw()) != std::string_view::npos))
      in_.seek(in_.offset() + 1);
    return in_.since(from);
  };
  const std::string_view lhs = labels("bf?");
  const bool underscore = eat_raw(in_, '_');
  const std::string_view rhs = labels("io?");
  const bool arrow = eat_raw(in_, '-') && eat_raw(in_, '>');
  const std::string_view out = labels("bf?");
  if (lhs.size() < 2 || !underscore || rhs.size() < 2 || !arrow || out.size() < 2)
    return in_.fail_at(start, fmt::format("expects dim labels, but sees '{}'", shown(in_.since(start))),
                       "e.g. dim_labels=bf01_io01->bf01");
  ConvolutionDimensions d;
  int64_t in_places[2] = {-1, -1}, kernel_places[2] = {-1, -1}, out_places[2] = {-1, -1};
  std::vector<int64_t> in_spatial, kernel_spatial, out_spatial;
  std::string error;
  if (!place_labels(lhs, "bf", in_places, in_spatial, error) ||
      !place_labels(rhs, "io", kernel_places, kernel_spatial, error) ||
      !place_labels(out, "bf", out_places, out_spatial, error))
    return in_.fail_at(start, error);
  if (in_spatial.size() != kernel_spatial.size() || in_spatial.size() != out_spatial.size())
    return in_.fail_at(
        start, "convolution lhs, rhs and output dimensions must have the same number of spatial dimensions");
  d.input_batch = in_places[0], d.input_feature = in_places[1];
  d.kernel_input_feature = kernel_places[0], d.kernel_output_feature = kernel_places[1];
  d.output_batch = out_places[0], d.output_feature = out_places[1];
  d.input_spatial = module_.arena().copy(in_spatial);
  d.kernel_spatial = module_.arena().copy(kernel_spatial);
  d.output_spatial = module_.arena().copy(out_spatial);
  d.text = in_.since(start);
  attr = Attr::make_struct(
      key, AttrSyntax::kDimLabels,
      static_cast<const ConvolutionDimensions*>(module_.arena().make<ConvolutionDimensions>(d)));
  return true;
}

bool AttrReader::read_shapes(AttrKey key, AttrSyntax syntax, Attr& attr) {
  std::vector<ShapeRef> shapes;
  if (syntax == AttrSyntax::kShape) {
    if (!read_shape(shapes.emplace_back())) return false;
  } else if (syntax == AttrSyntax::kShapes) {
    if (!in_.need('{', "at the start of a list of shapes")) return false;
    if (!in_.eat('}')) {
      do {
        if (!read_shape(shapes.emplace_back())) return false;
      } while (in_.eat(','));
      if (!in_.need('}', "at the end of a list of shapes")) return false;
    }
  } else {
    if (!in_.need('{', "at the start of the computation layout")) return false;
    if (!in_.need('(', "before the parameter shapes")) return false;
    while (in_.peek() != ')') {
      if (!read_shape(shapes.emplace_back())) return false;
      if (in_.peek() != ')' && !in_.need(',', "between parameter shapes")) return false;
    }
    if (!in_.need(')', "after the parameter shapes")) return false;
    if (!in_.eat("->"))
      return in_.fail(fmt::format("expects '->' before the result shape, but sees {}", in_.here()));
    if (!read_shape(shapes.emplace_back())) return false;
    if (!in_.need('}', "at the end of the computation layout")) return false;
    for (ShapeRef& shape : shapes) shape = module_.shapes().with_default_layouts(shape);
  }
  attr = list(key, syntax, shapes);
  return true;
}

bool AttrReader::read_literal(AttrKey key, Attr& attr) {
  const Literal* literal = read_typed_literal(in_, module_, shapes_);
  attr = Attr::make_struct(key, AttrSyntax::kLiteral, literal);
  return literal != nullptr;
}

bool AttrReader::read_replica_groups(AttrKey key, Attr& attr) {
  ReplicaGroups groups;
  Arena& arena = module_.arena();
  if (in_.peek() == '{') {
    std::vector<std::span<const int64_t>> lists;
    in_.eat('{');
    if (!in_.eat('}')) {
      do {
        std::vector<int64_t> ids;
        if (!in_.ints(ids)) return false;
        lists.push_back(arena.copy(ids));
      } while (in_.eat(','));
      if (!in_.need('}', "at the end of replica_groups")) return false;
    }
    groups.groups = arena.copy(lists);
  } else if (in_.peek() == '[') {
    groups.form = ReplicaGroups::Form::kIota;
    const size_t start = in_.offset();
    std::vector<int64_t> dimensions, reshape, transpose;
    if (!in_.ints(dimensions, '[', ']')) return false;
    if (!in_.eat("<="))
      return in_.fail(fmt::format("expects '<=' after the shape of the groups, but sees {}", in_.here()));
    if (!in_.ints(reshape, '[', ']')) return false;
    if (reshape.size() > 1 || in_.peek() == 'T') {
      if (!in_.eat("T")) return in_.fail(fmt::format("expects a transpose T(...), but sees {}", in_.here()));
      if (!in_.ints(transpose, '(', ')')) return false;
    }
    if (dimensions.size() != 2)
      return in_.fail_at(
          start, fmt::format("expects two dimensions [groups,members], but sees {}", dimensions.size()));
    int64_t left = 1, right = 1;
    bool bad = false;
    for (const int64_t d : dimensions) bad |= d <= 0 || __builtin_mul_overflow(left, d, &left);
    for (const int64_t d : reshape) bad |= d <= 0 || __builtin_mul_overflow(right, d, &right);
    if (bad || left != right)
      return in_.fail_at(start, "the iota's size does not match the product of the groups' dimensions");
    std::vector<int64_t> sorted = transpose;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < sorted.size(); ++i) bad |= sorted[i] != static_cast<int64_t>(i);
    if (bad || (!transpose.empty() && transpose.size() != reshape.size()))
      return in_.fail_at(start, "T(...) must be a permutation of the iota's dimensions");
    groups.iota_dimensions = arena.copy(dimensions);
    groups.iota_reshape = arena.copy(reshape);
    groups.iota_transpose = arena.copy(transpose);
  } else if (in_.at("mesh") || in_.at("maximal_mesh")) {
    groups.form = ReplicaGroups::Form::kMesh;
    in_.skip();
    const size_t start = in_.offset();
    std::vector<std::string_view> axes;
    if (!scan_mesh(in_, axes) || !scan_axis_list(in_, axes)) return false;
    groups.text = in_.since(start);
  } else {
    return in_.fail(fmt::format("expects replica groups, but sees {}", in_.here()),
                    "{{0,1},{2,3}}, [2,2]<=[4] or mesh['x'=2,'y'=2] {'x'}");
  }
  attr = Attr::make_struct(key, AttrSyntax::kReplicaGroups,
                           static_cast<const ReplicaGroups*>(arena.make<ReplicaGroups>(groups)));
  return true;
}

bool AttrReader::read_shape_index(std::span<const int64_t>& index) {
  std::vector<int64_t> values;
  if (!in_.need('{', "at the start of a shape index")) return false;
  while (in_.peek() != '}') {
    if (!in_.integer(values.emplace_back())) return false;
    if (!in_.eat(',')) break;
  }
  if (!in_.need('}', "at the end of a shape index")) return false;
  index = module_.arena().copy(values);
  return true;
}

bool AttrReader::read_alias_entry(AttrSyntax syntax, Alias& alias) {
  if (syntax == AttrSyntax::kAliases) {
    if (!read_shape_index(alias.output_index)) return false;
    if (!in_.need(':', "between output index and parameter")) return false;
    if (in_.peek() != '(') return in_.integer(alias.parameter);  // before 2019: {0}: 1
  }
  if (!in_.need('(', "before the aliased parameter")) return false;
  if (!in_.integer(alias.parameter)) return false;
  if (!in_.need(',', "after the parameter number")) return false;
  if (!read_shape_index(alias.parameter_index)) return false;
  if (syntax == AttrSyntax::kAliases && in_.eat(',')) {
    in_.skip();
    const size_t at = in_.offset();
    const std::string_view kind = in_.word();
    if (kind != "must-alias" && kind != "may-alias")
      return in_.fail_at(at, fmt::format("unexpected aliasing kind '{}'", shown(kind)),
                         "must-alias or may-alias");
    alias.must_alias = kind == "must-alias";
  }
  return in_.need(')', "after the aliased parameter");
}

bool AttrReader::read_aliases(AttrKey key, AttrSyntax syntax, Attr& attr) {
  std::vector<Alias> aliases;
  if (!in_.need('{', "at the start of the aliasing description")) return false;
  while (in_.peek() != '}') {
    if (!read_alias_entry(syntax, aliases.emplace_back())) return false;
    if (!in_.eat(',')) break;
  }
  if (!in_.need('}', "at the end of the aliasing description")) return false;
  attr = list(key, syntax, aliases);
  return true;
}

bool scan_kept(Cursor& in, AttrKey key, AttrSyntax syntax) {
  std::string_view ignored;
  switch (syntax) {
    case AttrSyntax::kNumber:
      return in.number(ignored);
    case AttrSyntax::kString:
      return in.string(ignored);
    case AttrSyntax::kConfig:
      return in.peek() == '{' ? in.braces(ignored) : in.string(ignored);
    case AttrSyntax::kSharding:
      return scan_sharding(in);
    case AttrSyntax::kMetadata:
      return scan_metadata(in);
    case AttrSyntax::kFrontend:
      return scan_frontend_attributes(in);
    case AttrSyntax::kAccuracy:
      return scan_accuracy(in);
    default:
      if (key == AttrKey::kDebugAttributes) return scan_debug_attributes(in);
      if (key == AttrKey::kOrigin) return scan_origin(in);
      return key == AttrKey::kStatistics ? scan_statistics(in) : in.braces(ignored);
  }
}

bool AttrReader::read_kept_text(AttrKey key, AttrSyntax syntax, Attr& attr) {
  in_.skip();
  const size_t start = in_.offset();
  const bool ok = scan_kept(in_, key, syntax);
  std::string_view text = in_.since(start);
  if (ok && syntax == AttrSyntax::kSharding)
    if (const std::optional<std::string> printed = spelled_as_printed(text))
      text = module_.arena().copy(std::string_view(*printed));
  attr = Attr::make_text(key, syntax, text);
  return ok;
}

}  // namespace hlosim
