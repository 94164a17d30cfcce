// What the dialect sdy writes for its attributes: shardings by named axes. They come out as the texts that
// sdy has for them, as MLIR's own text would hold them: `<@mesh, [{"x"}, {?}], replicated={"y"}>`.
#include <fmt/format.h>

#include <string>

#include "mlir_bytecode/attribute_table.h"

namespace hlosim::mlir {
namespace {

enum SdyAttribute : uint8_t {
  kSdyManualAxesCode = 0,
  kSdyMeshAxisCode = 1,
  kSdyMeshCode = 2,
  kSdySubAxisCode = 3,
  kSdyAxisCode = 4,
  kSdyDimensionCode = 5,
  kSdyShardingCode = 6,
  kSdyPerValueCode = 7,
  kRuleCodes = 8,  // 8 to 10 are rules for propagation, which change nothing of a program
  kSdyAxisListCode = 11,
  kSdyAxisListsCode = 12,
  kSdyAllToAllCode = 13,
  kSdyAllToAllListCode = 14,
  kSdyUnreducedShardingCode = 15,
  kSdyUnreducedPerValueCode = 16,
  kSdyReducedShardingCode = 17,
};

class SdyReader {
 public:
  SdyReader(AttributeTable& table, ByteReader& in) : table_(table), in_(in) {}

  const Attribute* read() {
    const size_t at = in_.offset();
    const uint64_t code = in_.varint();
    switch (code) {
      case kSdyManualAxesCode:
        return made("sdy.manual_axes", fmt::format("<{{{}}}>", list(&SdyReader::quoted_string)));
      case kSdyMeshAxisCode:
        return axis_of_mesh();
      case kSdyMeshCode:
        return mesh();
      case kSdySubAxisCode: {
        const int64_t before = in_.svarint(), size = in_.svarint();
        return made("sdy.sub_axis_info", fmt::format("({}){}", before, size));
      }
      case kSdyAxisCode:
        return axis();
      case kSdyDimensionCode:
        return dimension();
      case kSdyShardingCode:
      case kSdyUnreducedShardingCode:
      case kSdyReducedShardingCode:
        return sharding(code);
      case kSdyPerValueCode:
      case kSdyUnreducedPerValueCode:
        return made("sdy.sharding_per_value", fmt::format("<[{}]>", list(&SdyReader::part)));
      case kSdyAxisListCode:
        return made("sdy.axis_ref_list", fmt::format("<{{{}}}>", list(&SdyReader::part)));
      case kSdyAxisListsCode:
        return made("sdy.list_of_axis_ref_lists", fmt::format("<[{}]>", list(&SdyReader::bare_part)));
      case kSdyAllToAllCode: {
        const std::string axes = list(&SdyReader::part);
        const int64_t from = in_.svarint(), to = in_.svarint();
        return made("sdy.all_to_all_param", fmt::format("{{{}}}: {}->{}", axes, from, to));
      }
      case kSdyAllToAllListCode:
        return made("sdy.all_to_all_param_list", fmt::format("<[{}]>", list(&SdyReader::part)));
      default:
        break;
    }
    if (code < kRuleCodes || code > kSdyReducedShardingCode)
      in_.fail_at(at, fmt::format("attribute code {} of sdy isn't known", code));
    Attribute* const rule = table_.make(AttributeKind::kOpaque, in_);
    rule->name = "sdy";
    rule->text = "<bytecode>";
    return rule;
  }

 private:
  const Attribute* made(std::string_view name, const std::string& text) {
    Attribute* const attribute = table_.make(AttributeKind::kSharding, in_);
    attribute->name = name;
    attribute->text = table_.copy(text, in_);
    return attribute;
  }

  const Attribute* axis_of_mesh() {
    const std::string name = quote(table_.read_string(in_));
    return made("sdy.mesh_axis", fmt::format("{}={}", name, in_.svarint()));
  }

  const Attribute* mesh() {
    std::string text = fmt::format("<[{}]", list(&SdyReader::part));
    const size_t devices = in_.count("devices of a mesh");
    for (size_t i = 0; i < devices && in_.ok(); ++i)
      text += fmt::format("{}{}", i == 0 ? ", device_ids=[" : ", ", in_.svarint());
    return made("sdy.mesh", text + (devices > 0 ? "]>" : ">"));
  }

  const Attribute* axis() {
    std::string text = quote(table_.read_string(in_));
    if (const Attribute* part = optional_attribute()) text += fmt::format(":{}", part->text);
    return made("sdy.axis_ref", text);
  }

  const Attribute* dimension() {
    std::string text = list(&SdyReader::part);
    const bool is_closed = in_.byte() != 0;
    if (!is_closed) text += text.empty() ? "?" : ", ?";
    const uint64_t priority = in_.varint();
    return made("sdy.dimension_sharding", (priority & 1) != 0 ? fmt::format("{{{}}}p{}", text, priority >> 1)
                                                              : fmt::format("{{{}}}", text));
  }

  const Attribute* sharding(uint64_t code) {
    const Attribute* const mesh = table_.read_attribute(in_);
    if (!in_.ok() || !mesh) return nullptr;
    std::string text = mesh->kind == AttributeKind::kSymbol ? fmt::format("<@{}", mesh->text)
                                                            : fmt::format("<mesh{}", mesh->text);
    text += fmt::format(", [{}]", list(&SdyReader::part));
    if (const std::string axes = list(&SdyReader::part); !axes.empty())
      text += fmt::format(", replicated={{{}}}", axes);
    if (code != kSdyShardingCode)
      if (const std::string axes = list(&SdyReader::part); !axes.empty())
        text += fmt::format(", unreduced={{{}}}", axes);
    if (code == kSdyReducedShardingCode && in_.svarint() != 0)
      in_.fail("a sharding of parts that are not to be added isn't known");
    return made("sdy.sharding", text + ">");
  }

  /// The items, separated by commas.
  std::string list(std::string (SdyReader::*item)()) {
    std::string text;
    const size_t count = in_.count("items of an attribute");
    for (size_t i = 0; i < count && in_.ok(); ++i) {
      const std::string one = (this->*item)();
      // Attributes may be named as often as there are bytes, and each may be long.
      if (!table_.reserve(one.size(), in_)) break;
      text += (i > 0 ? ", " : "") + one;
    }
    return text;
  }
  std::string part() {
    const Attribute* const attribute = table_.read_attribute(in_);
    return attribute ? std::string(attribute->text) : std::string();
  }
  /// Without the angle brackets around it.
  std::string bare_part() {
    const std::string text = part();
    return text.size() < 2 ? text : text.substr(1, text.size() - 2);
  }
  std::string quoted_string() { return quote(table_.read_string_attribute(in_)); }
  static std::string quote(std::string_view text) { return fmt::format("\"{}\"", text); }

  /// Null: none.
  const Attribute* optional_attribute() {
    const size_t at = in_.offset();
    const uint64_t word = in_.varint();
    if ((word & 1) == 0 || !in_.ok()) return nullptr;
    const size_t count = table_.container().attributes.size();
    if (word >> 1 < count) return table_.attribute(static_cast<uint32_t>(word >> 1));
    in_.fail_at(at, fmt::format("attribute {} of {}", word >> 1, count));
    return nullptr;
  }

  AttributeTable& table_;
  ByteReader& in_;
};

}  // namespace

const Attribute* read_sdy_attribute(AttributeTable& table, ByteReader& in) {
  return SdyReader(table, in).read();
}

}  // namespace hlosim::mlir
