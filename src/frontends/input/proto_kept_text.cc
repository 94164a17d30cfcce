#include "input/proto_kept_text.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <vector>

#include "input/hlo.pb.h"
#include "input/proto_values.h"

namespace hlosim {
namespace {

using google::protobuf::FieldDescriptor;

template <class List, class Values>
void add_kept(List* list, const Values& values) {
  for (const auto value : values) list->Add(static_cast<typename List::value_type>(value));
}

}  // namespace

bool KeptText::sharding(pb::OpSharding& proto) {
  if (!in_.eat('{')) return false;
  if (in_.peek() != '{') return !in_.eat('}') && single_sharding(proto) && in_.at_end();
  proto.set_type(2);
  do {
    if (!in_.eat('{') || !single_sharding(*proto.add_tuple_shardings())) return false;
  } while (in_.eat(','));
  return in_.eat('}') && in_.at_end();
}

bool KeptText::metadata(pb::OpMetadata& proto) {
  if (!in_.eat('{')) return false;
  while (!in_.eat('}')) {
    in_.eat(',');
    const std::string key(in_.word());
    if (!in_.eat('=')) return false;
    const FieldDescriptor* field = proto.GetDescriptor()->FindFieldByName(key);
    if (!field) return false;
    if (key == "profile_type") {
      std::vector<int64_t> values;
      if (!in_.ints(values)) return false;
      add_kept(proto.mutable_profile_type(), values);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      std::string_view value;
      if (!in_.string(value)) return false;
      proto.GetReflection()->SetString(&proto, field, unquoted(value));
    } else {
      int64_t value = 0;
      if (!in_.integer(value)) return false;
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT32)
        proto.GetReflection()->SetInt32(&proto, field, static_cast<int32_t>(value));
      else
        proto.GetReflection()->SetInt64(&proto, field, value);
    }
  }
  return true;
}

bool KeptText::frontend(pb::FrontendAttributes& proto) {
  if (!in_.eat('{')) return false;
  if (in_.eat('}')) return true;
  std::map<std::string, std::string> entries;  // in the order of the keys, as maps are written
  do {
    const std::string key(in_.word());
    std::string_view value;
    if (!in_.eat('=')) return false;
    if (in_.peek() == '{' ? !in_.braces(value) : !in_.string(value)) return false;
    entries[key] = unquoted(value);
  } while (in_.eat(','));
  for (const auto& [key, text] : entries) {
    pb::FrontendAttribute& entry = *proto.add_map();
    entry.set_key(key);
    entry.set_value(text);
  }
  return in_.eat('}');
}

bool KeptText::accuracy(pb::ResultAccuracy& proto) {
  if (!in_.eat('{')) return false;
  const std::string_view kind = in_.word();
  if (!in_.eat('=')) return false;
  if (kind == "mode") {
    const std::string_view word = in_.word();
    proto.set_mode(word == "highest" || word == "HIGHEST" ? 1 : 0);
    return in_.eat('}');
  }
  if (!in_.eat('{')) return false;
  pb::Tolerance& tolerance = *proto.mutable_tolerance();
  while (!in_.eat('}')) {
    in_.eat(',');
    const std::string_view key = in_.word();
    std::string_view text;
    if (!in_.eat('=') || !in_.number(text)) return false;
    const double value = std::strtod(std::string(text).c_str(), nullptr);
    if (key == "atol")
      tolerance.set_atol(value);
    else if (key == "rtol")
      tolerance.set_rtol(value);
    else
      tolerance.set_ulps(static_cast<int64_t>(value));
  }
  return in_.eat('}');
}

bool KeptText::single_sharding(pb::OpSharding& proto) {
  static constexpr std::pair<std::string_view, int> kTypes[] = {
      {"replicated", 0}, {"maximal", 1}, {"manual", 4}, {"unknown", 5}, {"unreduced", 6}};
  const auto type_of = [](std::string_view word) {
    for (const auto& [name, number] : kTypes)
      if (name == word) return number;
    return -1;
  };
  while (!in_.eat('}')) {
    const std::string_view field = in_.word();
    if (field == "devices" && in_.eat('=')) {
      proto.set_type(3);
      if (!tiles(proto)) return false;
    } else if (field == "device" && in_.eat('=')) {
      int64_t device = 0;
      if (!in_.integer(device)) return false;
      proto.add_tile_assignment_devices(device);
    } else if (field == "last_tile_dim_replicate") {
      proto.set_replicate_on_last_tile_dim(true);
    } else if (field == "last_tile_dims" && in_.eat('=')) {
      if (!in_.eat('{')) return false;
      while (!in_.eat('}')) {
        const int type = type_of(in_.word());
        if (type < 0) return false;
        proto.add_last_tile_dims(type);
        in_.eat(',');
      }
    } else if (field == "shard_as" || field == "shard_like") {
      int64_t group = 0;
      if (!in_.integer(group)) return false;
      proto.set_is_shard_group(true);
      proto.set_shard_group_id(group);
      proto.set_shard_group_type(field == "shard_as" ? 0 : 1);
    } else if (field == "metadata" && in_.eat('=')) {
      const size_t start = (in_.peek(), in_.offset());
      const bool several = in_.eat('{') && in_.peek() == '{';
      if (!several) in_.seek(start);
      do {
        if (!metadata(*proto.add_metadata())) return false;
      } while (several && in_.eat(','));
      if (several && !in_.eat('}')) return false;
    } else {
      const int type = type_of(field);
      if (type < 0) return false;
      proto.set_type(type);
    }
  }
  return true;
}

bool KeptText::tiles(pb::OpSharding& proto) {
  std::vector<int64_t> values;
  if (!in_.ints(values, '[', ']')) return false;
  add_kept(proto.mutable_tile_assignment_dimensions(), values);
  if (in_.eat("<=")) {
    std::vector<int64_t> reshape, order;
    if (!in_.ints(reshape, '[', ']')) return false;
    if (in_.eat('T') && !in_.ints(order, '(', ')')) return false;
    for (size_t i = 0; order.empty() && i < reshape.size(); ++i) order.push_back(static_cast<int64_t>(i));
    add_kept(proto.mutable_iota_reshape_dims(), reshape);
    add_kept(proto.mutable_iota_transpose_perm(), order);
    return true;
  }
  do {
    int64_t device = 0;
    if (!in_.integer(device)) return false;
    proto.add_tile_assignment_devices(device);
  } while (in_.eat(','));
  return true;
}

}  // namespace hlosim
