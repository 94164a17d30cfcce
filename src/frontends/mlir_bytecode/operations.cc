#include "mlir_bytecode/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "mlir_bytecode/properties.h"
#include "mlir_bytecode/vhlo_operations.h"

namespace hlosim::mlir {
namespace {

/// Regions within regions.
constexpr int kDeepest = 200;
/// No record, no dictionary.
constexpr uint32_t kNone = ~uint32_t{0};

enum Mask : uint8_t {
  kHasAttributes = 0x01,
  kHasResults = 0x02,
  kHasOperands = 0x04,
  kHasSuccessors = 0x08,
  kHasRegions = 0x10,
  kHasUseOrders = 0x20,
  kHasProperties = 0x40,
};

/// What is known of an operation's name once it was met.
struct KnownOperation {
  bool is_known = false;
  std::string_view name;  // of today
  std::optional<VhloOperation> vhlo;
  std::optional<PropertyNames> properties;
  bool is_return = false;
};

/// The attributes that a record (or a dictionary) stands for, under the name of the operation that had it
/// last.
struct KnownAttributes {
  uint32_t operation = kNone, dictionary = kNone;
  std::span<const NamedAttribute> attributes;
};

/// Numbers of the values between one isolated operation and the next.
struct Scope {
  std::vector<Value*> values;
  size_t next = 0;  // of the innermost open region
};

class OperationReader {
 public:
  OperationReader(std::string_view file, const Container& container, AttributeTable& table, Fault& fault)
      : file_(file), container_(container), table_(table), fault_(fault) {}

  const Operation* read() {
    ByteReader in(file_, container_.ir.begin, container_.ir.end, fault_);
    if (!table_.reserve(container_.operations.size() * sizeof(KnownOperation), in)) return nullptr;
    operations_.resize(container_.operations.size());
    Scope scope;
    const Block* const block = read_block(in, scope, "func");
    if (in.ok() && in.left() > 0) in.fail(fmt::format("{} bytes after the last operation", in.left()));
    if (!in.ok()) return nullptr;
    if (block->operations.size() == 1 && block->operations[0]->name == "builtin.module")
      return block->operations[0];
    return module_around(*block, in);
  }

 private:
  const Operation* module_around(const Block& block, ByteReader& in) {
    auto* const top = table_.make<Operation>(in);
    top->name = "builtin.module";
    const std::span<Region> regions = table_.room<Region>(1, in);
    const std::span<const Block*> blocks = table_.room<const Block*>(1, in);
    if (blocks.empty()) return nullptr;
    blocks[0] = &block;
    regions[0].blocks = blocks;
    top->regions = regions;
    return top;
  }

  // ── blocks and regions ──

  const Block* read_block(ByteReader& in, Scope& scope, std::string_view parent) {
    auto* const block = table_.make<Block>(in);
    const size_t at = in.offset();
    const uint64_t word = in.varint();
    if (word >> 1 > in.left()) in.fail_at(at, fmt::format("counts {} operations", word >> 1));
    if (in.ok() && (word & 1)) read_arguments(in, scope, *block);
    if (!in.ok()) return block;
    const std::span<const Operation*> operations = table_.room<const Operation*>(word >> 1, in);
    for (const Operation*& operation : operations) {
      operation = read_operation(in, scope, parent);
      if (!in.ok()) break;
    }
    block->operations = operations;
    return block;
  }

  void read_arguments(ByteReader& in, Scope& scope, Block& block) {
    const std::span<const Value*> arguments = table_.room<const Value*>(in.count("arguments"), in);
    for (size_t i = 0; i < arguments.size() && in.ok(); ++i) {
      const Type* type = nullptr;
      const Location* location = nullptr;
      if (container_.version >= 4) {
        const size_t at = in.offset();
        const uint64_t word = in.varint();
        if (word >> 1 >= container_.types.size())
          return in.fail_at(at, fmt::format("names type {}", word >> 1));
        type = table_.type(static_cast<uint32_t>(word >> 1));
        if (word & 1) location = table_.read_location(in);
      } else {
        type = table_.read_type(in);
        location = table_.read_location(in);
      }
      Value* const value = define(in, scope, type);
      value->number = static_cast<uint32_t>(i);
      value->location = location;
      arguments[i] = value;
    }
    block.arguments = arguments;
    if (container_.version >= 3 && in.ok() && in.byte() != 0) skip_use_orders(in, arguments.size());
  }

  Region read_region(ByteReader& in, Scope& scope, std::string_view parent) {
    Region region;
    const size_t at = in.offset();
    const size_t count = in.count("blocks");
    if (count == 0) return region;
    const uint64_t values = in.varint();
    if (!in.ok() || values > in.left()) {
      in.fail_at(at, fmt::format("a region of {} values", values));
      return region;
    }
    // Its values are numbered from here on, and those of the regions within after them.
    const size_t first = scope.values.size();
    const size_t before = scope.next;
    if (!table_.reserve(values * sizeof(Value*), in)) return region;
    scope.values.resize(first + values);
    scope.next = first;
    const std::span<const Block*> blocks = table_.room<const Block*>(count, in);
    for (const Block*& block : blocks) {
      block = read_block(in, scope, parent);
      if (!in.ok()) break;
    }
    region.blocks = blocks;
    for (size_t i = first; i < first + values && in.ok(); ++i)
      if (!scope.values[i] || !scope.values[i]->type) in.fail(fmt::format("value {} is defined nowhere", i));
    scope.values.resize(first);
    scope.next = before;
    return region;
  }

  /// The next value of the innermost region; one that was used before already stands at its place.
  Value* define(ByteReader& in, Scope& scope, const Type* type) {
    if (scope.next >= scope.values.size()) {
      in.fail("more values than their region declares");
      return table_.make<Value>(in);
    }
    Value*& place = scope.values[scope.next++];
    if (!place) place = table_.make<Value>(in);
    place->type = type;
    return place;
  }

  // ── operations ──

  const Operation* read_operation(ByteReader& in, Scope& scope, std::string_view parent) {
    auto* const made = table_.make<Operation>(in);
    made->offset = static_cast<uint32_t>(in.offset());
    const uint32_t number = in.index(container_.operations.size(), "operation");
    const uint8_t mask = in.byte();
    made->location = table_.read_location(in);
    if (!in.ok()) return made;
    const KnownOperation& known = operation(number, *made, in);
    made->name = known.is_return ? return_name(parent) : known.name;
    read_attributes(in, *made, known, number, mask);
    if (mask & kHasResults) read_results(in, scope, *made);
    if (mask & kHasOperands) read_operands(in, scope, *made);
    if (mask & kHasSuccessors) {
      const size_t count = in.count("successors");
      for (size_t i = 0; i < count && in.ok(); ++i) in.varint();
    }
    if (mask & kHasUseOrders) skip_use_orders(in, made->results.size());
    if (mask & kHasRegions) read_regions(in, scope, *made);
    return made;
  }

  static std::string_view return_name(std::string_view parent) {
    return parent == "func.func" ? "func.return" : "stablehlo.return";
  }

  const KnownOperation& operation(uint32_t number, const Operation& made, ByteReader& in) {
    KnownOperation& known = operations_[number];
    if (known.is_known) return known;
    known.is_known = true;
    const OperationName& named = container_.operations[number];
    known.name = named.name;
    known.properties = property_names(named.name);
    if (named.dialect != "vhlo") return known;
    known.vhlo = vhlo_operation(named.name);
    const std::string_view today = known.vhlo->name;
    if (today.empty())
      in.fail_at(made.offset, fmt::format("the operation {} isn't known", shown(named.name)),
                 newest_known(container_));
    known.is_return = today == "return";
    known.name = today.find('.') != std::string_view::npos
                     ? today
                     : table_.copy(fmt::format("stablehlo.{}", today), in);
    return known;
  }

  void read_attributes(ByteReader& in, Operation& made, const KnownOperation& known, uint32_t number,
                       uint8_t mask) {
    const bool has_record = (mask & kHasProperties) && is_record(number);
    uint32_t dictionary = kNone, properties = kNone;
    if (mask & kHasAttributes) dictionary = in.index(container_.attributes.size(), "attribute");
    if (mask & kHasProperties)
      properties = has_record ? in.index(container_.properties.size(), "property record")
                              : in.index(container_.attributes.size(), "attribute");
    if (!in.ok() || (dictionary == kNone && properties == kNone)) return;
    KnownAttributes* const place = known_attributes(in, known, has_record ? properties : kNone, dictionary);
    if (place && place->operation == number && place->dictionary == dictionary) {
      made.attributes = place->attributes;
      return;
    }
    given_.clear();
    if (has_record) read_record(properties, known, made);
    if (!has_record && properties != kNone) add_dictionary(in, properties);
    if (dictionary != kNone) add_dictionary(in, dictionary);
    if (!in.ok()) return;
    if (!known.vhlo && properties == kNone)
      made.attributes = table_.attribute(dictionary)->entries;
    else
      made.attributes = known.vhlo ? upgraded(*known.vhlo, given_, table_, in) : kept(in);
    if (place) *place = {number, dictionary, made.attributes};
  }

  /// Where the attributes are kept that this record and this dictionary stand for; null: nowhere.
  KnownAttributes* known_attributes(ByteReader& in, const KnownOperation& known, uint32_t record,
                                    uint32_t dictionary) {
    const bool by_record = record != kNone;
    if (!by_record && (!known.vhlo || dictionary == kNone)) return nullptr;
    std::vector<KnownAttributes>& all = by_record ? of_records_ : of_dictionaries_;
    const size_t size = by_record ? container_.properties.size() : container_.attributes.size();
    if (all.empty() && table_.reserve(size * sizeof(KnownAttributes), in)) all.resize(size);
    return all.empty() ? nullptr : &all[by_record ? record : dictionary];
  }

  /// Are the operation's properties a record of its own? Else they are one attribute.
  bool is_record(uint32_t number) const {
    return container_.version >= 5 && container_.operations[number].is_registered;
  }

  std::span<const NamedAttribute> kept(ByteReader& in) {
    const std::span<NamedAttribute> made = table_.room<NamedAttribute>(given_.size(), in);
    std::copy_n(given_.begin(), made.size(), made.begin());
    return made;
  }

  void add_dictionary(ByteReader& in, uint32_t index) {
    const Attribute* const dictionary = table_.attribute(index);
    if (!dictionary) return;
    if (dictionary->kind != AttributeKind::kDictionary)
      return in.fail_at(container_.attributes[index].begin, "an attribute instead of a dictionary");
    given_.insert(given_.end(), dictionary->entries.begin(), dictionary->entries.end());
  }

  void read_record(uint32_t index, const KnownOperation& known, const Operation& made) {
    const std::string_view bytes = container_.properties[index];
    const auto begin = static_cast<size_t>(bytes.data() - file_.data());
    ByteReader in(file_, begin, begin + bytes.size(), fault_);
    if (known.vhlo) {
      for (const std::string_view name : known.vhlo->attributes) {
        given_.push_back({name, table_.read_attribute(in)});
        if (!in.ok()) return;
      }
    } else if (known.properties) {
      read_named(*known.properties, in);
    } else {
      return in.fail_at(made.offset,
                        fmt::format("how {} writes its properties isn't known", shown(made.name)),
                        fmt::format("written by {}", shown(container_.producer)));
    }
    if (in.ok() && in.left() > 0)
      in.fail(fmt::format("{} bytes too many of the properties of {}", in.left(), shown(made.name)));
  }

  void read_named(const PropertyNames& names, ByteReader& in) {
    for (const PropertyName& property : names) {
      if (!property.is_optional) {
        given_.push_back({property.name, table_.read_attribute(in)});
      } else if (const uint64_t word = in.varint(); word & 1) {
        if (word >> 1 >= container_.attributes.size())
          return in.fail(fmt::format("names attribute {}", word >> 1));
        given_.push_back({property.name, table_.attribute(static_cast<uint32_t>(word >> 1))});
      }
      if (!in.ok()) return;
    }
  }

  void read_results(ByteReader& in, Scope& scope, Operation& made) {
    const std::span<const Value*> results = table_.room<const Value*>(in.count("results"), in);
    for (size_t i = 0; i < results.size() && in.ok(); ++i) {
      const Type* const type = table_.read_type(in);
      Value* const value = define(in, scope, type);
      value->owner = &made;
      value->number = static_cast<uint32_t>(i);
      results[i] = value;
    }
    made.results = results;
  }

  void read_operands(ByteReader& in, Scope& scope, Operation& made) {
    const std::span<const Value*> operands = table_.room<const Value*>(in.count("operands"), in);
    for (const Value*& operand : operands) {
      const uint32_t number = in.index(scope.values.size(), "value");
      if (!in.ok()) break;
      Value*& place = scope.values[number];
      if (!place) place = table_.make<Value>(in);  // defined further down
      operand = place;
    }
    made.operands = operands;
  }

  void read_regions(ByteReader& in, Scope& scope, Operation& made) {
    if (depth_ >= kDeepest)
      return in.fail(fmt::format("regions within regions, more than {} deep", kDeepest));
    const uint64_t word = in.varint();
    const bool is_isolated = word & 1;
    if (word >> 1 > in.left()) in.fail(fmt::format("counts {} regions", word >> 1));
    if (!in.ok()) return;
    ++depth_;
    const std::span<Region> regions = table_.room<Region>(word >> 1, in);
    if (is_isolated && container_.version >= 2) {
      const size_t at = in.offset();
      uint8_t id = 0;
      const Extent section = read_section(in, id);
      if (in.ok() && id != 4) in.fail_at(at, "the section of operations is missing");
      if (in.ok()) {
        ByteReader inner(file_, section.begin, section.end, fault_);
        read_isolated(inner, made, regions);
        if (inner.ok() && inner.left() > 0)
          inner.fail(fmt::format("{} bytes too many of a region", inner.left()));
      }
    } else if (is_isolated) {
      read_isolated(in, made, regions);
    } else {
      for (Region& region : regions) region = read_region(in, scope, made.name);
    }
    made.regions = regions;
    --depth_;
  }

  void read_isolated(ByteReader& in, const Operation& made, std::span<Region> regions) {
    Scope own;
    for (Region& region : regions) {
      if (!in.ok()) return;
      region = read_region(in, own, made.name);
    }
  }

  void skip_use_orders(ByteReader& in, size_t values) {
    const size_t count = values > 1 ? in.count("use-list orders") : 1;
    for (size_t i = 0; i < count && in.ok(); ++i) {
      if (values > 1) in.varint();
      const size_t at = in.offset();
      const uint64_t numbers = in.varint() >> 1;
      if (numbers > in.left()) return in.fail_at(at, fmt::format("counts {} uses", numbers));
      for (uint64_t n = 0; n < numbers && in.ok(); ++n) in.varint();
    }
  }

  std::string_view file_;
  const Container& container_;
  AttributeTable& table_;
  Fault& fault_;
  std::vector<KnownOperation> operations_;
  std::vector<KnownAttributes> of_records_, of_dictionaries_;
  std::vector<NamedAttribute> given_;  // of the operation that is read
  int depth_ = 0;
};

}  // namespace

const Operation* read_operations(std::string_view file, const Container& container, AttributeTable& table,
                                 Fault& fault) {
  return OperationReader(file, container, table, fault).read();
}

}  // namespace hlosim::mlir
