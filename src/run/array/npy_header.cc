#include "array/npy_header.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "base/text.h"

namespace hlosim {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kLargestHeader = size_t{1} << 20;

struct NameRow {
  ElementType type;
  std::string_view name;
  char kind;  // NumPy's own, or 0 where NumPy lacks the type
};

constexpr NameRow kNames[] = {
    {ElementType::kPred, "bool", 'b'},
    {ElementType::kS1, "int1", 0},
    {ElementType::kS2, "int2", 0},
    {ElementType::kS4, "int4", 0},
    {ElementType::kS8, "int8", 'i'},
    {ElementType::kS16, "int16", 'i'},
    {ElementType::kS32, "int32", 'i'},
    {ElementType::kS64, "int64", 'i'},
    {ElementType::kU1, "uint1", 0},
    {ElementType::kU2, "uint2", 0},
    {ElementType::kU4, "uint4", 0},
    {ElementType::kU8, "uint8", 'u'},
    {ElementType::kU16, "uint16", 'u'},
    {ElementType::kU32, "uint32", 'u'},
    {ElementType::kU64, "uint64", 'u'},
    {ElementType::kF4E2M1FN, "float4_e2m1fn", 0},
    {ElementType::kF6E2M3FN, "float6_e2m3fn", 0},
    {ElementType::kF6E3M2FN, "float6_e3m2fn", 0},
    {ElementType::kF8E3M4, "float8_e3m4", 0},
    {ElementType::kF8E4M3, "float8_e4m3", 0},
    {ElementType::kF8E4M3B11FNUZ, "float8_e4m3b11fnuz", 0},
    {ElementType::kF8E4M3FN, "float8_e4m3fn", 0},
    {ElementType::kF8E4M3FNUZ, "float8_e4m3fnuz", 0},
    {ElementType::kF8E5M2, "float8_e5m2", 0},
    {ElementType::kF8E5M2FNUZ, "float8_e5m2fnuz", 0},
    {ElementType::kF8E8M0FNU, "float8_e8m0fnu", 0},
    {ElementType::kF16, "float16", 'f'},
    {ElementType::kBF16, "bfloat16", 0},
    {ElementType::kF32, "float32", 'f'},
    {ElementType::kF64, "float64", 'f'},
    {ElementType::kC64, "complex64", 'c'},
    {ElementType::kC128, "complex128", 'c'},
};
static_assert(std::size(kNames) == kElementTypeCount - 1);

const NameRow& row_of(ElementType type) { return kNames[static_cast<size_t>(type) - 1]; }

bool one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

/// Reads the literals that a header may hold.
class LiteralReader {
 public:
  explicit LiteralReader(std::string_view text) : text_(text) {}

  Result<NpyHeader> header();

 private:
  void skip_space() {
    while (at_ < text_.size() && one_of(text_[at_], " \t\r\n\v\f")) ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    skip_space();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  tl::unexpected<Diagnostic> wrong(std::string_view expected) {
    skip_space();
    const std::string_view rest = text_.substr(at_);
    return failure(rest.empty()
                       ? fmt::format("header ends where {} is expected", expected)
                       : fmt::format("header has '{}' where {} is expected", shown(rest, 40), expected));
  }
  std::optional<std::string_view> string();
  Result<std::vector<int64_t>> shape();
  Result<NpyType> descr();

  std::string_view text_;
  size_t at_ = 0;
};

std::optional<std::string_view> LiteralReader::string() {
  skip_space();
  size_t start = at_;
  if (start < text_.size() && (text_[start] == 'u' || text_[start] == 'b')) ++start;  // Python 2's prefixes
  if (start >= text_.size() || (text_[start] != '\'' && text_[start] != '"')) return std::nullopt;
  const size_t end = text_.find(text_[start], start + 1);
  if (end == std::string_view::npos) return std::nullopt;
  at_ = end + 1;
  return text_.substr(start + 1, end - start - 1);
}

Result<std::vector<int64_t>> LiteralReader::shape() {
  if (!take('(')) return wrong("a tuple of sizes");
  std::vector<int64_t> sizes;
  while (!take(')')) {
    skip_space();
    int64_t size = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
    if (error == std::errc::result_out_of_range)
      return failure(
          fmt::format("header has a size too large for 64 bits: '{}'", shown(text_.substr(at_), 40)));
    if (error != std::errc() || size < 0) return wrong("a size");
    at_ = static_cast<size_t>(end - text_.data());
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2's long integers
    sizes.push_back(size);
    if (take(',')) continue;
    if (!take(')')) return wrong("',' or ')'");
    if (sizes.size() == 1) return failure(fmt::format("header has '({})', which is not a tuple", size));
    break;
  }
  return sizes;
}

ElementType type_named(std::string_view name) {
  for (const NameRow& row : kNames)
    if (row.name == name) return row.type;
  if (name == "float8_e4m3b11") return ElementType::kF8E4M3B11FNUZ;  // its name in early ml_dtypes
  return ElementType::kInvalid;
}

Result<NpyType> type_of(std::string_view descr) {
  NpyType type;
  type.text = std::string(descr);
  std::string_view rest = descr;
  if (const ElementType named = type_named(descr); named != ElementType::kInvalid) {
    const NameRow& row = row_of(named);
    type.kind = row.kind;
    type.bytes = byte_width(named);
    if (row.kind == 0) type.named = named;
    return type;
  }
  if (!rest.empty() && one_of(rest[0], "<>=|")) {
    type.big_endian = rest[0] == '>';
    rest.remove_prefix(1);
  }
  if (rest == "?") rest = "b1";
  int64_t bytes = 0;
  const char* const last = rest.data() + rest.size();
  const bool counted = rest.size() >= 2 && std::from_chars(rest.data() + 1, last, bytes).ptr == last;
  if (!rest.empty() && rest[0] == 'O')
    return failure("it holds Python objects ('" + shown(descr) + "')", "save it as an array of numbers");
  if (!counted || bytes <= 0 || !one_of(rest[0], "biufcV"))
    return failure(
        fmt::format("its type '{}' is none of bool, integer, float, complex or void", shown(descr)));
  type.kind = rest[0];
  type.bytes = bytes;
  return type;
}

Result<NpyType> LiteralReader::descr() {
  if (const auto text = string()) return type_of(*text);
  if (!take('[')) return wrong("a type");
  // One named field, as packages without ml_dtypes mark their types: [('bfloat16', '<u2')].
  if (!take('(')) return wrong("a field");
  const auto name = string();
  if (!name || !take(',')) return wrong("a field's name");
  const auto text = string();
  if (!text) return wrong("a field's type");
  take(',');
  if (!take(')')) return wrong("')'");
  take(',');
  if (!take(']'))
    return failure("it holds records of several fields", "save each field as an array of its own");
  Result<NpyType> type = type_of(*text);
  if (type) type->text = fmt::format("[('{}', '{}')]", *name, *text);
  return type;
}

Result<NpyHeader> LiteralReader::header() {
  NpyHeader header;
  bool has_descr = false, has_order = false, has_shape = false;
  if (!take('{')) return wrong("'{'");
  while (!take('}')) {
    const auto key = string();
    if (!key) return wrong("a key");
    if (!take(':')) return wrong("':'");
    bool* seen = *key == "descr"           ? &has_descr
                 : *key == "fortran_order" ? &has_order
                 : *key == "shape"         ? &has_shape
                                           : nullptr;
    if (!seen) return failure(fmt::format("header has an unknown key '{}'", shown(*key)));
    if (*seen) return failure(fmt::format("header has '{}' twice", *key));
    *seen = true;
    if (seen == &has_descr) {
      Result<NpyType> type = descr();
      if (!type) return tl::unexpected(type.error());
      header.type = std::move(*type);
    } else if (seen == &has_order) {
      header.fortran_order = take_word("True");
      if (!header.fortran_order && !take_word("False")) return wrong("True or False");
    } else {
      Result<std::vector<int64_t>> sizes = shape();
      if (!sizes) return tl::unexpected(sizes.error());
      header.shape = std::move(*sizes);
    }
    if (take(',')) continue;
    if (!take('}')) return wrong("',' or '}'");
    break;
  }
  skip_space();
  if (at_ < text_.size()) return wrong("nothing more");
  for (const auto& [seen, key] :
       {std::pair(has_descr, "descr"), {has_order, "fortran_order"}, {has_shape, "shape"}})
    if (!seen) return failure(fmt::format("header lacks '{}'", key));
  return header;
}

}  // namespace

Result<NpyPrefix> parse_npy_prefix(std::string_view bytes) {
  const auto byte = [&](size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(bytes[i])); };
  if (bytes.substr(0, kMagic.size()) != kMagic)
    return failure(bytes.empty() ? "it is empty"
                                 : "it is no .npy file: it starts with '" + shown(bytes, 8) + "'");
  if (bytes.size() < 10) return failure("it ends within the header");
  const unsigned major = byte(6), minor = byte(7);
  if (major < 1 || major > 3 || minor != 0)
    return failure(
        fmt::format("it has version {}.{} of the .npy format; 1.0, 2.0 and 3.0 are known", major, minor));
  NpyPrefix prefix;
  prefix.header_start = major == 1 ? 10 : 12;
  if (bytes.size() < prefix.header_start) return failure("it ends within the header");
  prefix.header_bytes = byte(8) | byte(9) << 8;
  if (major > 1) prefix.header_bytes |= size_t{byte(10)} << 16 | size_t{byte(11)} << 24;
  if (prefix.header_bytes > kLargestHeader)
    return failure(
        fmt::format("it has a header of {} bytes; {} are the most", prefix.header_bytes, kLargestHeader));
  return prefix;
}

Result<NpyHeader> parse_npy_header(std::string_view dictionary) { return LiteralReader(dictionary).header(); }

bool npy_type_fits(const NpyType& npy, ElementType type) {
  if (npy.kind == 0) return npy.named == type;
  if (npy.bytes != byte_width(type)) return false;
  const NameRow& row = row_of(type);
  if (row.kind != 0) return npy.kind == row.kind;
  if (npy.kind == 'i') return is_signed_integer(type);
  if (npy.kind == 'f') return type == ElementType::kF8E5M2;  // ml_dtypes registers that one as '<f1'
  return npy.kind == 'V' || npy.kind == 'u';
}

std::string npy_descr(ElementType type) {
  const NameRow& row = row_of(type);
  const int64_t bytes = byte_width(type);
  if (row.kind == 0) return fmt::format("|V{}", bytes);
  return fmt::format("{}{}{}", bytes == 1 ? '|' : '<', row.kind, bytes);
}

std::string_view npy_name(ElementType type) { return row_of(type).name; }

std::string npy_preamble(ElementType type, std::span<const int64_t> shape) {
  std::string sizes = fmt::format("{}", fmt::join(shape, ", "));
  if (shape.size() == 1) sizes += ',';
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", npy_descr(type), sizes);
  const bool large = text.size() + 1 + 64 > 0xffff;
  const size_t start = large ? 12 : 10;
  text.append(63 - (start + text.size()) % 64, ' ');
  text += '\n';
  std::string out(kMagic);
  out += large ? '\2' : '\1';
  out += '\0';
  for (size_t i = 0; i < start - 8; ++i) out += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return out + text;
}

}  // namespace hlosim
