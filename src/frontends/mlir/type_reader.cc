// The types of AttributeReader.
#include <fmt/format.h>

#include "base/text.h"
#include "mlir/attribute_reader.h"
#include "mlir/element_format.h"

namespace hlosim::mlir {
namespace {

constexpr size_t kLongestCached = 200;  // bounds what nested types are scanned for
constexpr std::string_view kTensor = "tensor<";

}  // namespace

bool AttributeReader::sees_type() const {
  const char c = in_.peek();
  return c == '!' || c == '(' || Scanner::starts_word(c);
}

/// The text of the type that stands here, if it is short and easily told; empty otherwise.
std::string_view AttributeReader::cached_extent() const {
  const std::string_view text = in_.rest().substr(0, kLongestCached);
  size_t i = 0;
  const size_t word_start = i;
  while (i < text.size() && Scanner::continues_word(text[i])) ++i;
  if (i == word_start || i == text.size()) return {};
  if (text[i] != '<') return text.substr(0, i);
  for (int open = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<') ++open;
    if (c == '>' && --open == 0) return text.substr(0, i + 1);
    // Aliases are counted each time.
    if (c == '"' || c == '(' || c == '\n' || c == '/' || c == '-' || c == '!' || c == '#') return {};
  }
  return {};
}

const Type* AttributeReader::type() {
  const std::string_view text = cached_extent();
  if (!text.empty()) {
    if (const Type* const* known = types_.find(text)) {
      in_.move_to(text.data() + text.size());
      return *known;
    }
  }
  const char* start = in_.position();
  const Type* read = uncached_type();
  if (read != nullptr && !text.empty() && in_.since(start) == text) types_.at(text) = read;
  return read;
}

const Type* AttributeReader::uncached_type() {
  const Nesting nesting(in_);
  if (!nesting.entered()) return nullptr;
  if (in_.peek() == '(') return function_type();
  if (in_.peek() == '!') return dialect_type();
  return builtin_type(in_.offset());
}

bool AttributeReader::type_or_list(std::vector<const Type*>& types) {
  if (!in_.eat('(')) {
    types.push_back(type());
    return types.back() != nullptr;
  }
  if (in_.eat(')')) return true;
  do {
    types.push_back(type());
    if (types.back() == nullptr) return false;
  } while (in_.eat(','));
  return in_.need(')', "after the types");
}

const Type* AttributeReader::make_function(const std::vector<const Type*>& inputs,
                                           const std::vector<const Type*>& results) {
  Type* made = arena_.make<Type>();
  made->kind = TypeKind::kFunction;
  made->members = arena_.copy(inputs);
  made->results = arena_.copy(results);
  return made;
}

const Type* AttributeReader::function_type() {
  const uint32_t offset = in_.offset();
  std::vector<const Type*> inputs, results;
  if (!type_or_list(inputs) || !in_.need("->", "between the types of a function") || !type_or_list(results))
    return nullptr;
  Type* made = arena_.make<Type>();
  made->kind = TypeKind::kFunction;
  made->members = arena_.copy(inputs);
  made->results = arena_.copy(results);
  made->offset = offset;
  return made;
}

const Type* AttributeReader::element(std::string_view word) {
  const Type*& known = types_.at(word);
  if (known == nullptr) {
    Type* made = arena_.make<Type>();
    made->word = word;
    known = made;
  }
  return known;
}

const Type* AttributeReader::tensor(std::span<const int64_t> dims, std::string_view word) {
  std::string text(kTensor);
  for (const int64_t dim : dims) text += dim == kDynamic ? "?x" : fmt::format("{}x", dim);
  text += fmt::format("{}>", word);
  if (const Type* const* known = types_.find(text)) return *known;
  Type* made = arena_.make<Type>();
  made->kind = TypeKind::kTensor;
  made->dims = arena_.copy(dims);
  made->element = element(arena_.copy(word));
  made->offset = in_.offset();
  types_.at(arena_.copy(std::string_view(text))) = made;
  return made;
}

const Type* AttributeReader::dialect_type() {
  const char* start = in_.position();
  const uint32_t offset = in_.offset();
  in_.move_to(start + 1);
  const std::string_view name = in_.word();
  if (name.empty()) return in_.expects("the name of a type behind '!'"), nullptr;
  const bool bracket = in_.last_end() == in_.position() && in_.peek() == '<';
  if (!bracket && name.find('.') == std::string_view::npos) {
    const Alias* found = alias({start, name.size() + 1}, offset);
    return found == nullptr ? nullptr : found->type;
  }
  std::string_view body;
  if (bracket && !in_.balanced(body)) return nullptr;
  Type* made = arena_.make<Type>();
  made->word = in_.since(start);
  made->kind =
      made->word == "!stablehlo.token" || made->word == "!mhlo.token" ? TypeKind::kToken : TypeKind::kOpaque;
  made->offset = offset;
  return made;
}

const Type* AttributeReader::builtin_type(uint32_t offset) {
  const char* start = in_.position();
  const std::string_view word = in_.word();
  Type made;
  made.word = word;
  made.offset = offset;
  if (in_.peek() != '<' || is_type_word(word)) {
    if (is_type_word(word)) return arena_.make<Type>(made);
    if (word.empty()) return in_.expects("a type"), nullptr;
    return in_.fail_at(start, fmt::format("expects a type, but sees '{}'", shown(word))), nullptr;
  }
  in_.move_to(in_.position() + 1);
  bool read = false;
  if (word == "tensor") {
    read = tensor_type(made);
  } else if (word == "memref") {
    read = memref_type(made);
  } else if (word == "vector") {
    made.kind = TypeKind::kVector;
    read = shape(made);
  } else if (word == "tuple" || word == "complex") {
    made.kind = word == "tuple" ? TypeKind::kTuple : TypeKind::kComplex;
    read = members(made);
  } else {
    in_.fail_at(start, fmt::format("expects a type, but sees '{}'", shown(word)));
  }
  if (!read) return nullptr;
  if (!in_.eat('>')) return in_.expects(fmt::format("'>' at the end of a {}", word)), nullptr;
  made.word = {};
  return arena_.make<Type>(made);
}

/// `4x?x`, as far as it goes.
bool AttributeReader::dimensions(std::vector<int64_t>& dims) {
  while (Scanner::is_digit(in_.peek()) || in_.peek() == '?') {
    if (in_.eat('?')) {
      dims.push_back(kDynamic);
    } else {
      const char* start = in_.position();
      int64_t dim = 0;
      const char* p = start;
      for (; static_cast<size_t>(p - start) < in_.rest().size() && Scanner::is_digit(*p); ++p) {
        if (dim > (int64_t{1} << 58)) return in_.fail("this dimension is too large");
        dim = 10 * dim + (*p - '0');
      }
      dims.push_back(dim);
      in_.move_to(p);
    }
    if (!in_.need('x', "behind a dimension")) return false;
  }
  return true;
}

bool AttributeReader::shape(Type& type) {
  std::vector<int64_t> dims;
  if (in_.peek() == '[') return in_.fail("vectors of a scalable size aren't read");
  if (!dimensions(dims)) return false;
  type.dims = arena_.copy(dims);
  type.element = this->type();
  return type.element != nullptr;
}

bool AttributeReader::tensor_type(Type& type) {
  if (in_.eat('*')) {
    type.kind = TypeKind::kUnrankedTensor;
    if (!in_.need('x', "behind '*'")) return false;
    type.element = this->type();
    return type.element != nullptr;
  }
  type.kind = TypeKind::kTensor;
  if (!shape(type)) return false;
  if (in_.eat(',')) type.attribute = attribute();
  return !in_.failed();
}

bool AttributeReader::memref_type(Type& type) {
  type.kind = TypeKind::kMemRef;
  if (in_.peek() == '*') return in_.fail("references to memory of no rank aren't read");
  if (!shape(type)) return false;
  while (in_.eat(',')) {
    const Attribute* read = attribute();
    if (read == nullptr) return false;
    const bool is_layout = read->kind == AttributeKind::kAffineMap || read->name == "tpu.tiled";
    const Attribute*& part = is_layout ? type.attribute : type.space;
    if (part != nullptr)
      return in_.fail(fmt::format("this memref has two {}", is_layout ? "layouts" : "memory spaces"));
    part = read;
  }
  return true;
}

bool AttributeReader::members(Type& type) {
  std::vector<const Type*> members;
  if (in_.peek() != '>') {
    do {
      members.push_back(this->type());
      if (members.back() == nullptr) return false;
    } while (in_.eat(','));
  }
  if (type.kind == TypeKind::kComplex && members.size() != 1)
    return in_.fail("expects one type of the parts of a complex number");
  type.members = arena_.copy(members);
  return true;
}

}  // namespace hlosim::mlir
