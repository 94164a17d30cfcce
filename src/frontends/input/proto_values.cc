#include "input/proto_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <vector>

#include "hlo/cursor.h"
#include "hlo/escapes.h"
#include "input/hlo.pb.h"
#include "input/proto_fields.h"

namespace hlosim {

bool is_hlo_name(std::string_view text) {
  return !text.empty() && Cursor::starts_word(text[0]) &&
         std::all_of(text.begin(), text.end(), Cursor::continues_word);
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '\'')
      out += '\\', out += c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + '"';
}

std::string unquoted(std::string_view text) {
  if (text.size() < 2 || (text[0] != '"' && text[0] != '\'')) return std::string(text);
  return unescaped(text.substr(1, text.size() - 2));
}

std::string config_text(std::string_view text) {
  Cursor in(text, 0, text.size());
  std::string_view whole;
  const bool raw = !text.empty() && text[0] == '{' && in.braces(whole) && whole.size() == text.size();
  return raw ? std::string(text) : quoted(text);
}

std::string window_text(const pb::Window& window) {
  const auto& dimensions = window.dimensions();
  std::string out = "{";
  const auto field = [&](const char* name, auto&& usual, auto&& print) {
    if (std::all_of(dimensions.begin(), dimensions.end(), usual)) return;
    out += fmt::format("{}{}=", out.size() > 1 ? " " : "", name);
    for (int i = 0; i < dimensions.size(); ++i) out += (i ? "x" : "") + print(dimensions[i]);
  };
  using D = pb::WindowDimension;
  const auto at_least_one = [](int64_t value) { return std::to_string(value == 0 ? 1 : value); };
  field(
      "size", [](const D&) { return false; }, [](const D& d) { return std::to_string(d.size()); });
  if (dimensions.empty()) out = "{";
  field(
      "stride", [](const D& d) { return d.stride() <= 1 && d.stride() >= 0; },
      [&](const D& d) { return at_least_one(d.stride()); });
  field(
      "pad", [](const D& d) { return d.padding_low() == 0 && d.padding_high() == 0; },
      [](const D& d) { return fmt::format("{}_{}", d.padding_low(), d.padding_high()); });
  field(
      "lhs_dilate", [](const D& d) { return d.base_dilation() <= 1 && d.base_dilation() >= 0; },
      [&](const D& d) { return at_least_one(d.base_dilation()); });
  field(
      "rhs_dilate", [](const D& d) { return d.window_dilation() <= 1 && d.window_dilation() >= 0; },
      [&](const D& d) { return at_least_one(d.window_dilation()); });
  field(
      "rhs_reversal", [](const D& d) { return !d.window_reversal(); },
      [](const D& d) { return std::string(d.window_reversal() ? "1" : "0"); });
  return out + "}";
}

std::string dim_labels_text(const pb::ConvolutionDimensionNumbers& numbers) {
  const auto labels = [](int64_t first, char first_label, int64_t second, char second_label,
                         const auto& spatial) {
    std::string out(static_cast<size_t>(spatial.size()) + 2, '\0');
    const auto put = [&](int64_t at, char label) {
      if (at < 0 || at >= static_cast<int64_t>(out.size()) || out[static_cast<size_t>(at)] != '\0')
        return false;
      out[static_cast<size_t>(at)] = label;
      return true;
    };
    bool ok = put(first, first_label) && put(second, second_label) && spatial.size() < 10;
    for (int i = 0; ok && i < spatial.size(); ++i) ok = put(spatial[i], static_cast<char>('0' + i));
    return ok ? out : std::string();
  };
  const std::string input = labels(numbers.input_batch_dimension(), 'b', numbers.input_feature_dimension(),
                                   'f', numbers.input_spatial_dimensions());
  const std::string kernel =
      labels(numbers.kernel_input_feature_dimension(), 'i', numbers.kernel_output_feature_dimension(), 'o',
             numbers.kernel_spatial_dimensions());
  const std::string output = labels(numbers.output_batch_dimension(), 'b', numbers.output_feature_dimension(),
                                    'f', numbers.output_spatial_dimensions());
  if (input.empty() || kernel.empty() || output.empty()) return {};
  return input + "_" + kernel + "->" + output;
}

std::string slices_text(const pb::Instruction& instruction) {
  std::string out = "{";
  for (const pb::SliceDimensions& slice : instruction.slice_dimensions()) {
    out += fmt::format("{}[{}:{}", out.size() > 1 ? ", " : "", slice.start(), slice.limit());
    if (slice.stride() > 1 || slice.stride() < 0) out += fmt::format(":{}", slice.stride());
    out += ']';
  }
  return out + "}";
}

std::string padding_text(const pb::PaddingConfig& config) {
  std::string out;
  for (const pb::PaddingDimension& d : config.dimensions()) {
    out += fmt::format("{}{}_{}", out.empty() ? "" : "x", d.edge_padding_low(), d.edge_padding_high());
    if (d.interior_padding() != 0) out += fmt::format("_{}", d.interior_padding());
  }
  return out;
}

namespace {

template <class Groups>
std::string listed_groups(const Groups& groups) {
  std::string out = "{";
  for (const pb::ReplicaGroup& group : groups)
    out += (out.size() > 1 ? "," : "") + int_list(group.replica_ids());
  return out + "}";
}

template <class List>
std::string joined(const List& values) {
  const std::string list = int_list(values);
  return list.substr(1, list.size() - 2);
}

std::string iota_groups(const pb::IotaReplicaGroups& iota) {
  std::string out = fmt::format("[{},{}]<=[{}]", iota.num_replica_groups(), iota.num_devices_per_group(),
                                joined(iota.iota_reshape_dims()));
  const auto& order = iota.iota_transpose_perm();
  bool identity = true;
  for (int i = 0; i < order.size(); ++i) identity = identity && order[i] == i;
  return identity ? out : out + "T(" + joined(order) + ")";
}

}  // namespace

std::string replica_groups_text(const pb::Instruction& instruction) {
  if (instruction.has_iota_collective_device_list())
    return iota_groups(instruction.iota_collective_device_list());
  const pb::CollectiveDeviceList& list = instruction.collective_device_list();
  if (list.has_iota_replica_group_list()) return iota_groups(list.iota_replica_group_list());
  if (list.replica_groups_size() > 0) return listed_groups(list.replica_groups());
  if (instruction.replica_groups_size() > 0) return listed_groups(instruction.replica_groups());
  return instruction.has_collective_device_list() ? "{}" : "";
}

std::string metadata_text(const pb::OpMetadata& metadata) {
  std::string out = "{";
  const auto text = [&](const char* key, const std::string& value) {
    if (!value.empty()) out += fmt::format("{}{}={}", out.size() > 1 ? " " : "", key, hlosim::quoted(value));
  };
  const auto number = [&](const char* key, int64_t value) {
    if (value != 0) out += fmt::format("{}{}={}", out.size() > 1 ? " " : "", key, value);
  };
  text("op_type", metadata.op_type());
  text("op_name", metadata.op_name());
  text("source_file", metadata.source_file());
  number("source_line", metadata.source_line());
  number("source_end_line", metadata.source_end_line());
  number("source_column", metadata.source_column());
  number("source_end_column", metadata.source_end_column());
  if (metadata.profile_type_size() > 0)
    out += fmt::format("{}profile_type={}", out.size() > 1 ? " " : "", int_list(metadata.profile_type()));
  text("deduplicated_name", metadata.deduplicated_name());
  text("scheduling_name", metadata.scheduling_name());
  number("stack_frame_id", metadata.stack_frame_id());
  return out + "}";
}

namespace {

constexpr int kTupleSharding = 2;

/// `devices=[2,1]<=[2] last_tile_dims={…}`; empty: not understood.
std::string tiles_text(const pb::OpSharding& sharding) {
  std::string out = fmt::format("devices=[{}]", joined(sharding.tile_assignment_dimensions()));
  if (sharding.iota_reshape_dims_size() > 0) {
    out += fmt::format("<=[{}]", joined(sharding.iota_reshape_dims()));
    if (sharding.iota_reshape_dims_size() > 1)
      out += fmt::format("T({})", joined(sharding.iota_transpose_perm()));
  } else {
    out += joined(sharding.tile_assignment_devices());
  }
  if (sharding.replicate_on_last_tile_dim()) out += " last_tile_dim_replicate";
  if (sharding.last_tile_dims_size() == 0) return out;
  constexpr std::string_view kWords[] = {"replicated", "maximal", "", "", "manual", "", "unreduced"};
  out += " last_tile_dims={";
  for (int i = 0; i < sharding.last_tile_dims_size(); ++i) {
    const auto number = static_cast<size_t>(sharding.last_tile_dims(i));
    if (number >= std::size(kWords) || kWords[number].empty()) return {};
    out += fmt::format("{}{}", i ? ", " : "", kWords[number]);
  }
  return out + '}';
}

/// What a sharding that is no tuple says of the devices; empty: not understood.
std::string devices_text(const pb::OpSharding& sharding) {
  switch (sharding.type()) {
    case 0:
      return "replicated";
    case 1:
      if (sharding.tile_assignment_devices_size() != 1) return {};
      return fmt::format("maximal device={}", sharding.tile_assignment_devices(0));
    case 3:
      return tiles_text(sharding);
    case 4:
      return "manual";
    case 5:
      return "unknown";
    case 6:
      return "unreduced";
    default:
      return {};
  }
}

}  // namespace

std::string sharding_text(const pb::OpSharding& sharding) {
  std::string out = "{";
  if (sharding.type() == kTupleSharding) {
    for (const pb::OpSharding& element : sharding.tuple_shardings()) {
      const std::string one = sharding_text(element);
      if (one.empty() || element.type() == kTupleSharding) return {};
      out += (out.size() > 1 ? ", " : "") + one;
    }
    return out + "}";
  }
  const std::string devices = devices_text(sharding);
  if (devices.empty()) return {};
  out += devices;
  if (sharding.is_shard_group())
    out += fmt::format(" {} {}", sharding.shard_group_type() == 0 ? "shard_as" : "shard_like",
                       sharding.shard_group_id());
  if (sharding.metadata_size() == 1) out += " metadata=" + metadata_text(sharding.metadata(0));
  if (sharding.metadata_size() > 1) {
    out += " metadata={";
    for (int i = 0; i < sharding.metadata_size(); ++i)
      out += (i ? ", " : "") + metadata_text(sharding.metadata(i));
    out += '}';
  }
  return out + "}";
}

std::string frontend_text(const pb::FrontendAttributes& attributes) {
  std::map<std::string, std::string> sorted;
  for (const auto& entry : attributes.map()) sorted[entry.key()] = entry.value();  // of equal keys the last
  std::string out = "{";
  for (const auto& [key, value] : sorted)
    out += fmt::format("{}{}={}", out.size() > 1 ? "," : "", key, config_text(value));
  return out + "}";
}

std::string accuracy_text(const pb::ResultAccuracy& accuracy) {
  if (accuracy.has_tolerance())
    return fmt::format("{{tolerance={{atol={},rtol={},ulps={}}}}}", accuracy.tolerance().atol(),
                       accuracy.tolerance().rtol(), accuracy.tolerance().ulps());
  return accuracy.mode() == 1 ? "{mode=highest}" : "";
}

std::string stack_frame_text(const pb::StackFrameIndex& index) {
  std::string out;
  const auto names = [&](const char* title, const auto& list) {
    out += fmt::format("{}\n", title);
    for (int i = 0; i < list.size(); ++i) out += fmt::format("{} {}\n", i + 1, hlosim::quoted(list[i]));
    out += '\n';
  };
  names("FileNames", index.file_names());
  names("FunctionNames", index.function_names());
  out += "FileLocations\n";
  for (int i = 0; i < index.file_locations_size(); ++i) {
    const pb::FileLocation& at = index.file_locations(i);
    out += fmt::format(
        "{} {{file_name_id={} function_name_id={} line={} end_line={} column={} end_column={}}}\n", i + 1,
        at.file_name_id(), at.function_name_id(), at.line(), at.end_line(), at.column(), at.end_column());
  }
  out += "\nStackFrames\n";
  // One higher than stored: 1 is none.
  for (int i = 0; i < index.stack_frames_size(); ++i)
    out += fmt::format("{} {{file_location_id={} parent_frame_id={}}}\n", i + 1,
                       index.stack_frames(i).file_location_id(),
                       int64_t{index.stack_frames(i).parent_frame_id()} + 1);
  return out + "\n\n";
}

// ── shapes and literals ──

ShapeRef ProtoValues::fail(std::string what) {
  if (problem_.empty()) problem_ = std::move(what);
  return scratch_.shapes().token();
}

const Layout* ProtoValues::layout(const pb::Layout& proto) {
  const auto all = [](const auto& list, auto usual) {
    return std::all_of(list.begin(), list.end(), [&](auto v) { return v == usual; });
  };
  if (!all(proto.dim_level_types(), 0) || !all(proto.dim_unique(), true) || !all(proto.dim_ordered(), true))
    fail("a layout that is not dense");
  Layout layout;
  const std::vector<int64_t> order(proto.minor_to_major().begin(), proto.minor_to_major().end());
  layout.minor_to_major = order;
  std::vector<Tile> tiles;
  for (const pb::Tile& tile : proto.tiles())
    tiles.push_back(
        {std::span<const int64_t>(tile.dimensions().data(), static_cast<size_t>(tile.dimensions_size()))});
  std::vector<SplitConfig> splits;
  for (const pb::Split& split : proto.split_configs())
    splits.push_back(
        {split.dimension(), std::span<const int64_t>(split.split_indices().data(),
                                                     static_cast<size_t>(split.split_indices_size()))});
  layout.tiles = tiles;
  layout.splits = splits;
  layout.tail_padding_alignment = std::max<int64_t>(1, proto.tail_padding_alignment_in_elements());
  layout.index_type = internal::element_type_of(proto.index_primitive_type());
  layout.pointer_type = internal::element_type_of(proto.pointer_primitive_type());
  layout.element_bits = proto.element_size_in_bits();
  layout.memory_space = proto.memory_space();
  layout.metadata_prefix_bytes = proto.dynamic_shape_metadata_prefix_bytes();
  return scratch_.shapes().layout(layout);
}

ShapeRef ProtoValues::shape(const pb::Shape& proto) {
  ShapePool& pool = scratch_.shapes();
  std::vector<ShapeRef> elements;
  for (const pb::Shape& element : proto.tuple_shapes()) elements.push_back(shape(element));
  if (proto.element_type() == internal::kProtoTuple) return pool.tuple(elements);
  if (proto.element_type() == internal::kProtoToken) return pool.token();
  if (proto.element_type() == internal::kProtoOpaque) return pool.opaque();
  if (proto.element_type() == internal::kProtoBuffer)
    return elements.size() == 1 && elements[0]->is_array() ? pool.buffer(elements[0])
                                                           : fail("a buffer shape that holds no array");
  const ElementType type = internal::element_type_of(proto.element_type());
  if (type == ElementType::kInvalid) return fail(fmt::format("element_type {}", proto.element_type()));
  const int rank = proto.dimensions_size();
  if (proto.is_dynamic_dimension_size() != 0 && proto.is_dynamic_dimension_size() != rank)
    return fail("is_dynamic_dimension of another rank");
  if (proto.has_layout() && proto.layout().minor_to_major_size() != rank)
    return fail("a layout of another rank");
  const std::span<const int64_t> dimensions(proto.dimensions().data(), static_cast<size_t>(rank));
  const std::span<const bool> dynamic(proto.is_dynamic_dimension().data(),
                                      static_cast<size_t>(proto.is_dynamic_dimension_size()));
  const bool any_dynamic = std::any_of(dynamic.begin(), dynamic.end(), [](bool d) { return d; });
  for (size_t i = 0; i < dimensions.size(); ++i)
    if (dimensions[i] < 0 && !(dimensions[i] == Shape::kUnbounded && any_dynamic && dynamic[i]))
      return fail("a negative dimension");
  return pool.array(type, dimensions, proto.has_layout() ? layout(proto.layout()) : nullptr,
                    any_dynamic ? dynamic : std::span<const bool>());
}

namespace {

/// Values of the elements as Literal holds them; XLA has a field for each type.
std::string literal_bytes(const pb::Literal& proto, ElementType type) {
  using google::protobuf::FieldDescriptor;
  std::string bytes;
  const google::protobuf::Reflection& reflection = *proto.GetReflection();
  const FieldDescriptor* field = proto.GetDescriptor()->FindFieldByName(std::string(to_text(type)) + "s");
  if (field && field->is_repeated()) {
    const int size = reflection.FieldSize(proto, field);
    const auto add = [&](auto value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
    for (int i = 0; i < size; ++i) switch (field->cpp_type()) {
        case FieldDescriptor::CPPTYPE_BOOL:
          add(static_cast<uint8_t>(reflection.GetRepeatedBool(proto, field, i)));
          break;
        case FieldDescriptor::CPPTYPE_INT32:
          add(reflection.GetRepeatedInt32(proto, field, i));
          break;
        case FieldDescriptor::CPPTYPE_INT64:
          add(reflection.GetRepeatedInt64(proto, field, i));
          break;
        case FieldDescriptor::CPPTYPE_UINT32:
          add(reflection.GetRepeatedUInt32(proto, field, i));
          break;
        case FieldDescriptor::CPPTYPE_UINT64:
          add(reflection.GetRepeatedUInt64(proto, field, i));
          break;
        case FieldDescriptor::CPPTYPE_FLOAT:
          add(reflection.GetRepeatedFloat(proto, field, i));
          break;
        default:
          add(reflection.GetRepeatedDouble(proto, field, i));
          break;
      }
  } else if (field) {
    bytes = reflection.GetString(proto, field);
  }
  if (bit_width(type) < 8)  // a byte each, whatever stands above the value
    for (char& byte : bytes) {
      const int above = 8 - bit_width(type);
      const auto shifted = static_cast<unsigned char>(static_cast<unsigned char>(byte) << above);
      byte = is_signed_integer(type) ? static_cast<char>(static_cast<signed char>(shifted) >> above)
                                     : static_cast<char>(shifted >> above);
    }
  return bytes;
}

}  // namespace

const Literal* ProtoValues::literal(const pb::Literal& proto) {
  Literal literal;
  literal.shape = shape(proto.shape());
  if (literal.shape->is_tuple()) {
    std::vector<const Literal*> elements;
    for (const pb::Literal& element : proto.tuple_literals()) elements.push_back(this->literal(element));
    if (elements.size() != literal.shape->elements.size())
      fail("a tuple literal of another size than its shape");
    literal.elements = scratch_.arena().copy(elements);
    return scratch_.arena().make<Literal>(literal);
  }
  if (!literal.shape->is_array()) return scratch_.arena().make<Literal>(literal);
  const std::string bytes = literal_bytes(proto, literal.shape->element_type);
  const size_t wanted = static_cast<size_t>(literal.shape->element_count()) *
                        static_cast<size_t>(byte_width(literal.shape->element_type));
  literal.elided = bytes.empty() && wanted > 0;  // large constants may have been left out
  if (!literal.elided && bytes.size() != wanted)
    fail(fmt::format("{} bytes of values for a literal of {}", bytes.size(), wanted));
  literal.data = scratch_.arena().copy(
      std::span<const std::byte>(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()));
  return scratch_.arena().make<Literal>(literal);
}

std::string ProtoValues::shape_text(const pb::Shape& proto) { return to_text(shape(proto)); }

std::string ProtoValues::literal_text(const pb::Literal& proto) {
  const Literal* made = literal(proto);
  return problem_.empty() ? to_text(*made) : std::string();
}

std::string ProtoValues::typed_literal_text(const pb::Literal& proto) {
  if (proto.shape().element_type() == internal::kProtoTuple) {
    std::string out = "(";
    for (const pb::Literal& element : proto.tuple_literals())
      out += (out.size() > 1 ? ", " : "") + typed_literal_text(element);
    return out + ")";
  }
  return shape_text(proto.shape()) + " " + literal_text(proto);
}

}  // namespace hlosim
