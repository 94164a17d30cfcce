// Reads operations: names of values, regions, the generic form. What is special about pretty forms stands in
// pretty_forms.h; it fills a Draft with what this class reads for it.
//
//   OperationReader reader(in, attributes, arena);
//   std::vector<const Operation*> operations;
//   while (!in.at_end()) reader.operation(operations);
#pragma once

#include <deque>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "mlir/attribute_reader.h"
#include "mlir/ir.h"
#include "mlir/scanner.h"
#include "mlir/text_map.h"

namespace hlosim::mlir {

struct Operand {
  const Value* value = nullptr;
  uint32_t offset = 0;
};

/// An argument of a block before the block is there.
struct Argument {
  std::string_view name;  // empty: it has none
  const Type* type = nullptr;
  uint32_t offset = 0;
  const Location* location = nullptr;
};

/// An operation while it is read.
struct Draft {
  struct Name {
    std::string_view text;
    uint32_t count = 1;  // of results that it stands for
    uint32_t offset = 0;
  };
  std::string_view name;
  uint32_t offset = 0;
  std::vector<Name> names;
  std::vector<Operand> operands;
  std::vector<NamedAttribute> attributes;
  std::vector<Region> regions;
  std::vector<const Type*> types;    // as written before an arrow; once resolved, one per operand
  std::vector<const Type*> results;  // as written behind the arrow; once resolved, one per result
  bool has_arrow = false;

  void clear();
  void add(std::string_view attribute, const Attribute* value) { attributes.push_back({attribute, value}); }
};

/// What types without an arrow mean.
enum class TypeRule : uint8_t {
  kSame,          // `: T` of all operands and the result
  kSelect,        // `: P, T` of the first operand, and of the others and the result
  kParts,         // `: tensor<complex<T>>` of the result, whose operands are its parts
  kList,          // one of each operand, and of each result
  kOperands,      // one of each operand; no results
  kEachOperand,   // `: T` of all operands, or one of each; no results
  kTuple,         // `: tuple<T, …>` of the result, whose operands are its members
  kFunctionType,  // an arrow has to stand there
};

class OperationReader {
 public:
  OperationReader(Scanner& in, AttributeReader& attributes, Arena& arena)
      : in_(in), attributes_(attributes), arena_(arena) {}

  /// Reads the operation that stands here, to the end of its location.
  bool operation(std::vector<const Operation*>& into);

  // ── for pretty forms ──
  Scanner& in() { return in_; }
  AttributeReader& attributes() { return attributes_; }
  Arena& arena() { return arena_; }

  /// `%a` or `%a#1`
  bool operand(Draft& draft);
  /// `%a, %b`; nothing where no '%' stands.
  bool operands(Draft& draft);
  bool operands_in_parentheses(Draft& draft);
  /// `{…}`, if it stands here. What the draft has already is replaced.
  bool optional_attributes(Draft& draft);
  /// `: types`, and what they mean: draft.types and draft.results are one per operand and result.
  bool signature(Draft& draft, TypeRule rule);
  /// draft.types, read before, as `rule` has it.
  bool resolve(Draft& draft, TypeRule rule);
  /// `{ … }`. An isolated region sees nothing outside.
  struct RegionRule {
    bool isolated = false;
    bool pretty = true;  // there is a first block, even if nothing stands in it
  };
  bool region(Draft& draft, std::span<const Argument> arguments, RegionRule rule);
  /// `%a: T [loc]`
  bool argument(Argument& argument);
  /// `(%a: T, …)`
  bool arguments(std::vector<Argument>& arguments);
  bool optional_location(const Location*& location);

  /// A value's definition, and what is made without a text.
  const Value* make_argument(const Argument& argument, uint32_t number);
  Operation* make_operation(std::string_view name, uint32_t offset, std::span<const Value* const> operands,
                            std::span<const Type* const> results);
  /// The operation whose region is read; empty at the top.
  std::string_view parent() const { return parents_.empty() ? std::string_view() : parents_.back(); }

 private:
  struct Named {
    const Value* const* values = nullptr;  // null: what had this name is out of sight
    uint32_t count = 0;
    uint32_t offset = 0;
  };

  bool result_names(Draft& draft);
  bool generic(Draft& draft);
  bool generic_regions(Draft& draft);
  bool successors();
  bool pretty(Draft& draft);
  bool check_operands(const Draft& draft);
  bool finish(Draft& draft, std::vector<const Operation*>& into);
  bool define_results(const Draft& draft, const Operation& operation);
  bool define(std::string_view name, const Value* const* values, uint32_t count, uint32_t offset);
  bool blocks(std::span<const Argument> arguments, RegionRule rule, Region& region);
  bool label(std::vector<Argument>& arguments);
  const Block* block(std::span<const Argument> arguments);

  Scanner& in_;
  AttributeReader& attributes_;
  Arena& arena_;
  std::deque<Draft> drafts_;  // one per level
  size_t level_ = 0;
  std::vector<std::string_view> parents_;
  TextMap<Named> values_;  // beside the name: the scope
  uint32_t scope_ = 0, scopes_ = 0;
  std::vector<std::string_view> defined_;  // names of the scope, in order: a region takes back its own
};

}  // namespace hlosim::mlir
