#include "hlo/literal_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/text.h"
#include "hlo/number.h"

namespace hlosim {
namespace {

constexpr int kMaxTupleDepth = 1000;

/// Reads one array's values, element by element, straight into the module's arena.
class ArrayReader {
 public:
  ArrayReader(Cursor& in, Module& module, ShapeRef shape)
      : in_(in),
        module_(module),
        shape_(shape),
        type_(shape->element_type),
        width_(byte_width(type_)),
        rank_(static_cast<size_t>(shape->rank())),
        seen_(rank_, 0) {}

  bool read(Literal& literal) {
    literal.shape = shape_;
    if (rank_ == 0) {
      if (!allocate() || !read_element()) return false;
    } else if (in_.peek() != '{') {
      // A bare value where an array should stand sets element 0 only; the rest is zero.
      if (!allocate_elements(std::min<int64_t>(1, shape_->element_count())) || !read_element()) return false;
    } else if (!read_nested(literal)) {
      return false;
    }
    // Nothing is left out of what has no elements. (`unbounded` shapes count none, but may have some.)
    if (shape_->element_count() == 0 && !shape_->is_unbounded()) literal.elided = false;
    if (!literal.elided && !allocate()) return false;
    literal.data = data_;
    return true;
  }

 private:
  /// The bytes of all elements, zero. Every element takes at least two characters of text, so a
  /// shape that the rest of the text cannot fill is refused before memory is asked for.
  bool allocate() {
    if (allocated_) return true;
    return allocate_elements(shape_->element_count());
  }

  bool allocate_elements(int64_t count) {
    const int64_t room = static_cast<int64_t>(in_.text().size()) + 4096;
    if (count > room)
      return in_.fail(fmt::format("the values of {} do not fit in what is left of the text",
                                  to_text_without_layout(shape_)),
                      "{...} replaces values that were left out");
    const size_t bytes = static_cast<size_t>(count * width_);
    if (bytes > 0) {
      std::byte* at = static_cast<std::byte*>(module_.arena().allocate(bytes, 16));
      std::memset(at, 0, bytes);
      data_ = {at, bytes};
    }
    allocated_ = true;
    return true;
  }

  bool read_nested(Literal& literal) {
    size_t depth = 0;
    for (;;) {
      const char c = in_.peek();
      if (c == '{') {
        in_.eat('{');
        if (++depth > rank_)
          return in_.fail(fmt::format("expects nested array in rank {}, but sees larger", rank_));
        if (depth > 1 && ++seen_[depth - 2] > shape_->dim(static_cast<int64_t>(depth) - 2))
          return in_.fail(fmt::format("expects {} elements in dimension {}, but sees more",
                                      shape_->dim(static_cast<int64_t>(depth) - 2), depth - 2));
      } else if (c == '}') {
        const int64_t expected = shape_->dim(static_cast<int64_t>(depth) - 1);
        if (!literal.elided && seen_[depth - 1] != expected)
          return in_.fail(fmt::format("expects {} elements in dimension {}, but sees {}", expected, depth - 1,
                                      seen_[depth - 1]));
        in_.eat('}');
        seen_[--depth] = 0;
        if (depth == 0) return true;
      } else if (c == ',') {
        in_.eat(',');
      } else if (in_.eat("...")) {
        if (depth != 1)
          return in_.fail(fmt::format("expects '...' one brace deep, but sees it {} deep", depth));
        literal.elided = true;
      } else {
        if (depth != rank_)
          return in_.fail(fmt::format("expects nested array in rank {}, but sees {}", rank_, depth));
        if (++seen_[rank_ - 1] > shape_->dim(static_cast<int64_t>(rank_) - 1))
          return in_.fail(fmt::format("expects {} elements on the minor-most dimension, but sees more",
                                      shape_->dim(static_cast<int64_t>(rank_) - 1)));
        if (!allocate() || !read_element()) return false;
      }
    }
  }

  bool read_element() {
    in_.skip();
    start_ = in_.offset();
    bool ok = false;
    switch (number_class(type_)) {
      case NumberClass::kPred:
        ok = read_pred();
        break;
      case NumberClass::kSigned:
      case NumberClass::kUnsigned:
        ok = read_integer();
        break;
      case NumberClass::kFloat:
        ok = read_float(type_);
        break;
      case NumberClass::kComplex:
        ok = read_complex();
        break;
      case NumberClass::kNone:
        ok = in_.fail("expects a literal of an array type");
        break;
    }
    if (!ok) return false;
    const char next = in_.raw();
    if (next == '\0' || next == ',' || next == '}' || next == ')' || next == '/' || next == ' ' ||
        next == '\n' || next == '\t' || next == '\r')
      return true;
    return in_.fail(
        fmt::format("expects ',' or the end of the literal after a value, but sees {}", in_.here()));
  }

  void store(uint64_t bits, size_t width) {
    if (at_ + width <= data_.size()) std::memcpy(module_data() + at_, &bits, width);
    at_ += width;
  }
  std::byte* module_data() { return const_cast<std::byte*>(data_.data()); }

  bool read_pred() {
    int64_t value = 0;
    if (Cursor::starts_word(in_.raw())) {
      bool flag = false;
      if (!in_.boolean(flag)) return false;
      value = flag;
    } else if (!in_.integer(value, "true, false or an integer")) {
      return false;
    }
    store(value != 0, 1);
    return true;
  }

  bool read_integer() {
    int64_t value = 0;
    if (!in_.integer(value, fmt::format("an integer for primitive type {}", hlosim::to_text(type_)).c_str()))
      return false;
    if (in_.raw() == '.' || in_.raw() == 'e' || in_.raw() == 'E') {
      in_.seek(start_);
      std::string_view text;
      in_.number(text);
      return in_.fail_at(start_, fmt::format("expects an integer for primitive type {}, but sees {}",
                                             hlosim::to_text(type_), shown(text)));
    }
    const int bits = bit_width(type_);
    if (bits < 64) {
      const bool is_signed = is_signed_integer(type_);
      const int64_t low = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
      const int64_t high = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
      if (value < low || value > high)
        return in_.fail_at(
            start_,
            fmt::format("value {} is out of range for literal's primitive type {}, which holds [{}, {}]",
                        shown(in_.since(start_)), hlosim::to_text(type_), low, high));
    }
    store(static_cast<uint64_t>(value), static_cast<size_t>(width_));
    return true;
  }

  bool read_complex() {
    const ElementType part = type_ == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64;
    if (!in_.need('(', "before a complex value")) return false;
    in_.skip();
    start_ = in_.offset();
    part_name_ = "real part ";
    if (!read_float(part) || !in_.need(',', "between the parts of a complex value")) return false;
    in_.skip();
    start_ = in_.offset();
    part_name_ = "imaginary part ";
    return read_float(part) && in_.need(')', "after a complex value");
  }

  bool read_float(ElementType type) {
    const size_t width = static_cast<size_t>(byte_width(type));
    std::string_view text;
    if (in_.raw() == '.' || in_.raw() == '+')
      return in_.fail(fmt::format("expects a number, but sees {}", in_.here()),
                      "a number starts with a digit or '-'");
    if (!in_.number(text)) return false;
    const bool negative = text[0] == '-';
    const std::string_view magnitude = text.substr(negative ? 1 : 0);
    if (magnitude.starts_with("nan")) return read_nan(type, negative, magnitude.substr(3));
    double value = 0;
    if (magnitude == "inf") {
      value = std::numeric_limits<double>::infinity();
    } else {
      const auto result = std::from_chars(magnitude.data(), magnitude.data() + magnitude.size(), value);
      if (result.ec == std::errc::result_out_of_range) {
        // Too small is zero; too large is an error.
        value = std::strtod(std::string(magnitude).c_str(), nullptr);
        if (std::isinf(value)) return out_of_range(text, type);
      }
    }
    bool overflow = false;
    const uint64_t bits = encode_float(type, negative ? -value : value, overflow);
    if (overflow) return out_of_range(text, type);
    store(bits, width);
    return true;
  }

  bool out_of_range(std::string_view text, ElementType type) {
    bool ignored = false;
    const double largest =
        decode_float(type, encode_float(type, std::numeric_limits<double>::max(), ignored));
    return in_.fail_at(
        start_,
        fmt::format("{}{} is out of range for literal's primitive type {}{}",
                    part_name_.empty() ? "value " : part_name_, shown(text), hlosim::to_text(type_),
                    std::isfinite(largest) ? fmt::format(", whose largest value is {}", largest) : ""));
  }

  bool read_nan(ElementType type, bool negative, std::string_view payload_text) {
    uint64_t payload = 0;
    if (!payload_text.empty()) {
      const std::string_view digits = payload_text.substr(1, payload_text.size() - 2);
      const bool hex = digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
      const auto result =
          std::from_chars(digits.data() + (hex ? 2 : 0), digits.data() + digits.size(), payload, 16);
      if (!hex || result.ec != std::errc() || result.ptr != digits.data() + digits.size() || payload == 0 ||
          payload >> 52)
        return in_.fail_at(start_, fmt::format("'{}' is not a NaN payload", shown(payload_text)),
                           "nan(0x1): non-zero, at most 52 bits");
      if (payload >> nan_payload_bits(type))
        return in_.fail_at(start_, fmt::format("tries to set NaN payload 0x{:x}, but {} has room for {} bits",
                                               payload, hlosim::to_text(type), nan_payload_bits(type)));
    }
    store(nan_bits(type, negative, payload), static_cast<size_t>(byte_width(type)));
    return true;
  }

  Cursor& in_;
  Module& module_;
  ShapeRef shape_;
  ElementType type_;
  int64_t width_;
  size_t rank_;
  std::vector<int64_t> seen_;  // elements seen so far at each open level
  std::span<const std::byte> data_;
  bool allocated_ = false;
  size_t at_ = 0;
  size_t start_ = 0;
  std::string_view part_name_;
};

/// The shape in front of a value. In `s32[2] {1, 2}` the braces are the value's, although they could
/// open a layout: they are one only where a value follows.
ShapeRef read_shape_before_value(Cursor& in, Module& module, ShapeReader& shapes) {
  in.skip();
  const size_t start = in.offset();
  size_t position = start;
  const ShapeRef shape = shapes.read(position);
  if (shape) {
    in.seek(position);
    if (!shape->is_array() || shape->rank() == 0 || !shape->layout || in.peek() == '{') return shape;
  }
  const size_t close = in.text().find(']', start);
  if (close != std::string_view::npos && in.raw() != '(') {
    ShapeReader bare(module.shapes(), in.text().substr(0, close + 1), shapes.most_dimensions());
    position = start;
    if (const ShapeRef without_layout = bare.read(position)) {
      in.seek(position);
      return without_layout;
    }
  }
  in.fail_at(shapes.error_position(), shapes.error(), shapes.hint());
  return nullptr;
}

/// Until 2019 the value repeated its shape: constant(f32[2] {1, 2}), constant((f32[], s32[]) (1, 2)).
bool skip_repeated_shape(Cursor& in, Module& module) {
  in.skip();
  const size_t start = in.offset();
  while (in.eat('(')) {
  }
  const std::string_view word = in.peek_word();
  in.seek(start);
  if (word.empty() || parse_element_type(word) == ElementType::kInvalid) return true;
  // `(f32[2] {1,2}, …)` is a tuple whose elements repeat theirs; `(f32[2], …) (` a shape.
  ShapeReader shapes(module.shapes(), in.text());
  size_t position = start;
  if (in.raw() == '(') {
    if (shapes.read(position)) in.seek(position);
    return true;
  }
  if (!read_shape_before_value(in, module, shapes)) return false;
  if (in.peek_word() == "sparse" || in.raw() == 's') return in.fail("sparse arrays no longer exist in HLO");
  return true;
}

const Literal* read_at_depth(Cursor& in, Module& module, ShapeRef shape, int depth) {
  Literal literal;
  literal.shape = shape;
  if (!skip_repeated_shape(in, module)) return nullptr;
  if (shape->is_tuple()) {
    if (depth > kMaxTupleDepth) return in.fail("tuple literals nest too deeply"), nullptr;
    std::vector<const Literal*> elements;
    if (!in.need('(', "in front of tuple elements")) return nullptr;
    for (size_t i = 0; i < shape->elements.size(); ++i) {
      if (i > 0 && !in.need(',', "to separate tuple elements")) return nullptr;
      const Literal* element = read_at_depth(in, module, shape->elements[i], depth + 1);
      if (!element) return nullptr;
      elements.push_back(element);
    }
    if (!in.need(')', "at the end of the tuple")) return nullptr;
    literal.elements = module.arena().copy(elements);
  } else if (shape->is_array()) {
    if (shape->is_unbounded()) return in.fail("a constant cannot have an unbounded dimension"), nullptr;
    if (!ArrayReader(in, module, shape).read(literal)) return nullptr;
  } else {
    in.fail(fmt::format("expects a literal of an array or tuple, not of {}", to_text(shape)));
    return nullptr;
  }
  return module.arena().make<Literal>(literal);
}

}  // namespace

const Literal* read_literal(Cursor& in, Module& module, ShapeRef shape) {
  return read_at_depth(in, module, shape, 0);
}

const Literal* read_typed_literal(Cursor& in, Module& module, ShapeReader& shapes) {
  if (in.peek() == '(') {
    in.eat('(');
    std::vector<const Literal*> elements;
    std::vector<ShapeRef> element_shapes;
    while (in.peek() != ')') {
      const Literal* element = read_typed_literal(in, module, shapes);
      if (!element) return nullptr;
      elements.push_back(element);
      element_shapes.push_back(element->shape);
      if (in.peek() != ')' && !in.need(',', "to separate tuple elements")) return nullptr;
    }
    in.eat(')');
    Literal literal;
    literal.shape = module.shapes().tuple(element_shapes);
    literal.elements = module.arena().copy(elements);
    return module.arena().make<Literal>(literal);
  }
  const ShapeRef shape = read_shape_before_value(in, module, shapes);
  if (!shape) return nullptr;
  return read_literal(in, module, module.shapes().with_default_layouts(shape));
}

}  // namespace hlosim
