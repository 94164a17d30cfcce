#include "hlo/literal.h"

#include <fmt/format.h>

#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/saturating.h"
#include "hlo/number.h"

namespace hlosim {
namespace {

uint64_t bits_at(const Literal& literal, size_t offset, size_t width) {
  uint64_t bits = 0;
  if (offset + width <= literal.data.size()) std::memcpy(&bits, literal.data.data() + offset, width);
  return bits;
}

void append_element(std::string& out, const Literal& literal, int64_t index) {
  const ElementType type = literal.shape->element_type;
  const size_t width = static_cast<size_t>(byte_width(type));
  const size_t offset = static_cast<size_t>(index) * width;
  switch (number_class(type)) {
    case NumberClass::kPred:
      out += bits_at(literal, offset, 1) ? (literal.shape->rank() == 0 ? "true" : "1")
                                         : (literal.shape->rank() == 0 ? "false" : "0");
      return;
    case NumberClass::kUnsigned:
      fmt::format_to(std::back_inserter(out), "{}", bits_at(literal, offset, width));
      return;
    case NumberClass::kSigned:
      fmt::format_to(std::back_inserter(out), "{}", integer_at(literal, index));
      return;
    case NumberClass::kFloat:
      append_float(out, type, bits_at(literal, offset, width));
      return;
    case NumberClass::kComplex: {
      const ElementType part = type == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64;
      out += '(';
      append_float(out, part, bits_at(literal, offset, width / 2));
      out += ", ";
      append_float(out, part, bits_at(literal, offset + width / 2, width / 2));
      out += ')';
      return;
    }
    case NumberClass::kNone:
      return;
  }
}

/// Elements one after the other. Of small floats there are few: each is spelled once, as that takes tries.
class ElementWriter {
 public:
  ElementWriter(std::string& out, const Literal& literal) : out_(out), literal_(literal) {
    const ElementType type = literal.shape->element_type;
    const int bits = bit_width(type);
    if (number_class(type) == NumberClass::kFloat && bits <= 16 && literal.shape->element_count() > kFew)
      spelled_.resize(size_t{1} << bits);
  }

  void write(int64_t index) {
    if (spelled_.empty()) return append_element(out_, literal_, index);
    const auto width = static_cast<size_t>(byte_width(literal_.shape->element_type));
    const uint64_t bits = bits_at(literal_, static_cast<size_t>(index) * width, width);
    if (bits >= spelled_.size()) return append_element(out_, literal_, index);
    std::string& text = spelled_[bits];
    if (text.empty()) append_element(text, literal_, index);
    out_ += text;
  }

 private:
  static constexpr int64_t kFew = 4096;
  std::string& out_;
  const Literal& literal_;
  std::vector<std::string> spelled_;  // by bits; empty: not yet
};

/// Rows of braces that an array without elements is written with: those in front of its first empty
/// dimension, which may be more than any memory holds.
bool has_too_many_empty_rows(ShapeRef shape) {
  constexpr int64_t kMostEmptyRows = 4096;
  if (shape->element_count() > 0) return false;
  int64_t rows = 1;
  for (int64_t i = 0; i < shape->rank() && shape->dim(i) > 0; ++i) {
    rows = saturating_multiply(rows, shape->dim(i));
    if (rows > kMostEmptyRows) return true;
  }
  return false;
}

void append_array(std::string& out, const Literal& literal, int64_t dimension, int64_t& index,
                  ElementWriter& writer) {
  if (dimension == literal.shape->rank()) {
    writer.write(index++);
    return;
  }
  const bool innermost = dimension + 1 == literal.shape->rank();
  out += innermost ? "{" : "{ ";
  for (int64_t i = 0; i < literal.shape->dim(dimension); ++i) {
    if (i) out += ", ";
    append_array(out, literal, dimension + 1, index, writer);
  }
  out += innermost ? "}" : " }";
}

}  // namespace

int64_t integer_at(const Literal& literal, int64_t index) {
  const ElementType type = literal.shape->element_type;
  const size_t width = static_cast<size_t>(byte_width(type));
  HLOSIM_CHECK(is_integer(type) || is_pred(type), "{}", to_text(literal.shape));
  const uint64_t bits = bits_at(literal, static_cast<size_t>(index) * width, width);
  const int shift = 64 - static_cast<int>(width) * 8;
  return is_signed_integer(type) ? static_cast<int64_t>(bits << shift) >> shift : static_cast<int64_t>(bits);
}

void append_text(std::string& out, const Literal& literal) {
  if (literal.shape->is_tuple()) {
    out += "( ";
    for (size_t i = 0; i < literal.elements.size(); ++i) {
      if (i) out += ", ";
      append_text(out, *literal.elements[i]);
    }
    out += literal.elements.empty() ? ")" : " )";
    return;
  }
  if (literal.elided || has_too_many_empty_rows(literal.shape)) {
    out += "{...}";
    return;
  }
  int64_t index = 0;
  if (literal.shape->rank() > 0 && literal.shape->element_count() > 1 &&
      literal.data.size() == static_cast<size_t>(byte_width(literal.shape->element_type))) {
    append_element(out, literal, 0);  // a bare value: the other elements are zero
    return;
  }
  ElementWriter writer(out, literal);
  append_array(out, literal, 0, index, writer);
}

std::string to_text(const Literal& literal) {
  std::string out;
  append_text(out, literal);
  return out;
}

}  // namespace hlosim
