#include "mlir_bytecode/attribute_table.h"

#include <fmt/format.h>

#include "base/text.h"
#include "mlir/read_text.h"

namespace hlosim::mlir {
namespace {

/// Attributes within attributes: deep call stacks have some hundred.
constexpr int kDeepest = 500;

/// Stands for what is being decoded: to meet it then means that it holds itself.
constexpr Attribute kOpenAttribute;
constexpr Type kOpenType;
constexpr Location kOpenLocation;

/// `#tpu.memory_space<vmem>` → its name and its brackets, as the text reader would.
void keep_as_text(std::string_view text, Attribute& made) {
  const size_t open = std::min(text.find('<'), text.size());
  made.name = text.substr(1, open - 1);
  made.text = text.substr(open);
}

}  // namespace

AttributeTable::AttributeTable(std::string_view file, const Container& container, Arena& arena,
                               Budget& budget, Fault& fault)
    : file_(file), container_(container), arena_(arena), budget_(budget), fault_(fault) {
  ByteReader in(file, 0, 0, fault);
  const size_t attributes = container.attributes.size(), types = container.types.size();
  if (!budget.take((2 * attributes + types) * sizeof(void*), in)) return;
  attributes_.resize(attributes);
  locations_.resize(attributes);
  types_.resize(types);
}

ByteReader AttributeTable::reader(const EncodedEntry& entry) const {
  return ByteReader(file_, entry.begin, entry.begin + entry.size, fault_);
}

const Attribute* AttributeTable::read_attribute(ByteReader& in) {
  const uint32_t index = in.index(attributes_.size(), "attribute");
  return in.ok() ? attribute(index) : nullptr;
}
const Type* AttributeTable::read_type(ByteReader& in) {
  const uint32_t index = in.index(types_.size(), "type");
  return in.ok() ? type(index) : nullptr;
}
const Location* AttributeTable::read_location(ByteReader& in) {
  const uint32_t index = in.index(locations_.size(), "location");
  return in.ok() ? location(index) : nullptr;
}
std::string_view AttributeTable::read_string(ByteReader& in) {
  const uint32_t index = in.index(container_.strings.size(), "string");
  return in.ok() ? container_.strings[index] : std::string_view{};
}
std::string_view AttributeTable::read_string_attribute(ByteReader& in) {
  const size_t at = in.offset();
  const Attribute* const made = read_attribute(in);
  if (!made) return {};
  if (made->kind != AttributeKind::kString) in.fail_at(at, "an attribute instead of a string");
  return made->text;
}
const Resource* AttributeTable::read_resource(ByteReader& in) {
  const uint32_t index = in.index(container_.resources.size(), "resource");
  return in.ok() ? &container_.resources[index] : nullptr;
}

bool AttributeTable::enter(ByteReader& in) {
  if (depth_ < kDeepest) return true;
  in.fail(fmt::format("attributes and types within each other, more than {} deep", kDeepest));
  return false;
}

const Attribute* AttributeTable::attribute(uint32_t index) {
  if (const Attribute* known = attributes_[index]; known && known != &kOpenAttribute) return known;
  const EncodedEntry& entry = container_.attributes[index];
  ByteReader in = reader(entry);
  if (attributes_[index] == &kOpenAttribute) {
    in.fail(fmt::format("attribute {} holds itself", index));
    return nullptr;
  }
  if (!enter(in)) return nullptr;
  ++depth_;
  attributes_[index] = &kOpenAttribute;
  const Attribute* const made = decode_attribute(entry, index);
  attributes_[index] = made;
  --depth_;
  return fault_.is_set ? nullptr : made;
}

const Type* AttributeTable::type(uint32_t index) {
  if (const Type* known = types_[index]; known && known != &kOpenType) return known;
  const EncodedEntry& entry = container_.types[index];
  ByteReader in = reader(entry);
  if (types_[index] == &kOpenType) {
    in.fail(fmt::format("type {} holds itself", index));
    return nullptr;
  }
  if (!enter(in)) return nullptr;
  ++depth_;
  types_[index] = &kOpenType;
  const Type* const made = decode_type(entry);
  types_[index] = made;
  --depth_;
  return fault_.is_set ? nullptr : made;
}

const Location* AttributeTable::location(uint32_t index) {
  if (const Location* known = locations_[index]; known && known != &kOpenLocation) return known;
  const EncodedEntry& entry = container_.attributes[index];
  ByteReader in = reader(entry);
  if (locations_[index] == &kOpenLocation) {
    in.fail(fmt::format("location {} holds itself", index));
    return nullptr;
  }
  if (!enter(in)) return nullptr;
  ++depth_;
  locations_[index] = &kOpenLocation;
  const Location* const made = decode_location(entry);
  locations_[index] = made;
  --depth_;
  if (!made) in.fail(fmt::format("attribute {} is not a location", index));
  return fault_.is_set ? nullptr : made;
}

const Attribute* AttributeTable::decode_attribute(const EncodedEntry& entry, uint32_t index) {
  ByteReader in = reader(entry);
  const std::string_view dialect = container_.dialects[entry.dialect];
  if (entry.is_custom && dialect == "builtin") return read_builtin_attribute(*this, in, index);
  if (entry.is_custom && dialect == "vhlo") return read_vhlo_attribute(*this, in);
  if (entry.is_custom && dialect == "sdy") return read_sdy_attribute(*this, in);
  if (entry.is_custom) {
    Attribute* const made = make(AttributeKind::kOpaque, in);
    made->name = dialect;
    made->text = "<bytecode>";
    return made;
  }
  const std::string_view text = in.take_text("an attribute's text");
  if (!in.ok() || !budget_.take(text.size(), in)) return nullptr;
  const Result<const Attribute*> read = mlir::read_attribute(text, arena_);
  if (read) return *read;
  if (!text.starts_with('#')) {
    in.fail_at(entry.begin, fmt::format("the attribute '{}': {}", shown(text), read.error().message));
    return nullptr;
  }
  Attribute* const made = make(AttributeKind::kOpaque, in);
  keep_as_text(text, *made);
  return made;
}

const Type* AttributeTable::decode_type(const EncodedEntry& entry) {
  ByteReader in = reader(entry);
  const std::string_view dialect = container_.dialects[entry.dialect];
  if (entry.is_custom && dialect == "builtin") return read_builtin_type(*this, in);
  if (entry.is_custom && dialect == "vhlo") return read_vhlo_type(*this, in);
  const std::string_view text = entry.is_custom ? dialect : in.take_text("a type's text");
  if (!in.ok() || !budget_.take(text.size(), in)) return nullptr;
  if (!entry.is_custom) {
    const Result<const Type*> read = mlir::read_type(text, arena_);
    if (read) return *read;
    if (!text.starts_with('!'))
      in.fail_at(entry.begin, fmt::format("the type '{}': {}", shown(text), read.error().message));
  }
  auto* const made = make<Type>(in);
  made->kind = TypeKind::kOpaque;
  made->word = entry.is_custom ? copy(fmt::format("!{}.bytecode", text), in) : text;
  return made;
}

const Location* AttributeTable::decode_location(const EncodedEntry& entry) {
  ByteReader in = reader(entry);
  if (entry.is_custom && container_.dialects[entry.dialect] == "builtin")
    return read_builtin_location(*this, in);
  if (entry.is_custom) return nullptr;
  const std::string_view text = in.take_text("a location's text");
  if (!in.ok() || !budget_.take(text.size(), in)) return nullptr;
  const Result<const Attribute*> read = mlir::read_attribute(text, arena_);
  return read && (*read)->kind == AttributeKind::kLocation ? (*read)->location : nullptr;
}

const Type* AttributeTable::element_type(std::string_view word, ByteReader& in) {
  const auto [at, is_new] = element_types_.try_emplace(word, nullptr);
  if (is_new) {
    auto* const made = make<Type>(in);
    made->word = word;
    at->second = made;
  }
  return at->second;
}

}  // namespace hlosim::mlir
