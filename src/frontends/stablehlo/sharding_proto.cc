// OpSharding protocol buffers, as older programs hold them in strings.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "stablehlo/mesh_sharding.h"

namespace hlosim::stablehlo {
namespace {

enum : uint64_t { kReplicated = 0, kMaximal = 1, kTuple = 2, kOther = 3, kManual = 4, kUnknown = 5 };
constexpr int kDeepest = 4;

/// Varints and lengths of a message; false where it is cut off.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}
  bool at_end() const { return bytes_.empty(); }
  bool varint(uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64 && !bytes_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_[0]);
      bytes_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return true;
    }
    return false;
  }
  bool text(std::string_view& value) {
    uint64_t size = 0;
    if (!varint(size) || size > bytes_.size()) return false;
    value = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return true;
  }

 private:
  std::string_view bytes_;
};

struct OpSharding {
  uint64_t type = kReplicated;
  std::vector<uint64_t> tiles, devices, last_tile_dims, iota_reshape, iota_transpose;
  std::vector<OpSharding> elements;
  bool replicates_last = false;
};

bool read_sharding(std::string_view bytes, OpSharding& sharding, int depth);

bool read_field(uint64_t number, uint64_t value, std::string_view text, bool is_text, OpSharding& sharding,
                int depth) {
  std::vector<uint64_t>* list = number == 3    ? &sharding.tiles
                                : number == 4  ? &sharding.devices
                                : number == 8  ? &sharding.last_tile_dims
                                : number == 9  ? &sharding.iota_reshape
                                : number == 10 ? &sharding.iota_transpose
                                               : nullptr;
  if (list && !is_text) return list->push_back(value), true;
  if (list) {
    WireReader packed(text);
    while (!packed.at_end())
      if (!packed.varint(list->emplace_back())) return false;
    return true;
  }
  if (number == 1 && !is_text) return sharding.type = value, true;
  if (number == 6 && !is_text) return sharding.replicates_last = value != 0, true;
  if (number == 5 && is_text) return read_sharding(text, sharding.elements.emplace_back(), depth + 1);
  return number == 2 || number == 7 || (number >= 11 && number <= 14);
}

bool read_sharding(std::string_view bytes, OpSharding& sharding, int depth) {
  if (depth > kDeepest) return false;
  WireReader in(bytes);
  while (!in.at_end()) {
    uint64_t tag = 0, value = 0;
    std::string_view text;
    if (!in.varint(tag)) return false;
    const bool is_text = (tag & 7) == 2;
    if ((tag & 7) != 0 && !is_text) return false;
    if (is_text ? !in.text(text) : !in.varint(value)) return false;
    if (!read_field(tag >> 3, value, text, is_text, sharding, depth)) return false;
  }
  return true;
}

std::string text_of(const OpSharding& sharding) {
  switch (sharding.type) {
    case kReplicated:
      return "{replicated}";
    case kMaximal:
      return fmt::format("{{maximal device={}}}", sharding.devices.empty() ? 0 : sharding.devices[0]);
    case kManual:
      return "{manual}";
    case kUnknown:
      return "{unknown}";
    default:
      break;
  }
  if (sharding.type == kTuple) {
    std::string text = "{";
    for (const OpSharding& element : sharding.elements)
      text += (text.size() > 1 ? "," : "") + text_of(element);
    return text + "}";
  }
  std::string text = fmt::format("{{devices=[{}]", fmt::join(sharding.tiles, ","));
  if (!sharding.iota_reshape.empty()) {
    text += fmt::format("<=[{}]", fmt::join(sharding.iota_reshape, ","));
    if (sharding.iota_reshape.size() > 1)
      text += fmt::format("T({})", fmt::join(sharding.iota_transpose, ","));
  } else {
    text += fmt::format("{}", fmt::join(sharding.devices, ","));
  }
  static constexpr std::string_view kLast[] = {"replicated", "maximal", "", "", "manual", "", "unreduced"};
  std::vector<std::string_view> last;
  for (const uint64_t kind : sharding.last_tile_dims)
    last.push_back(kind < std::size(kLast) ? kLast[kind] : std::string_view());
  if (!last.empty()) text += fmt::format(" last_tile_dims={{{}}}", fmt::join(last, ", "));
  if (sharding.replicates_last) text += " last_tile_dim_replicate";
  return text + "}";
}

}  // namespace

Result<std::string> hlo_sharding_of_proto(std::string_view bytes) {
  OpSharding sharding;
  if (!read_sharding(bytes, sharding, 0) || sharding.type > kUnknown)
    return failure("a sharding is neither HLO's text nor its protocol buffer");
  return text_of(sharding);
}

}  // namespace hlosim::stablehlo
