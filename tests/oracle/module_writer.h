// What the generator of random modules writes with: computations under construction.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/random_source.h"
#include "oracle/value.h"

namespace hlosim::test {

struct ArrayType {
  ElementType type = ElementType::kF32;
  Index dims;

  bool operator==(const ArrayType&) const = default;
  int64_t count() const;
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
};

/// An array that an instruction of a body computes.
struct Ref {
  size_t line = 0;
  ArrayType array;
};

std::string list_text(std::span<const int64_t> values);  // "{1,2}"

/// Instructions of one computation.
class Body {
 public:
  struct Line {
    std::string name, shape, opcode, attributes, inner;
    std::vector<size_t> operands;
    bool is_parameter = false;
  };

  /// Appends `name = shape opcode(operands), attributes`.
  size_t add(std::string name, std::string shape, std::string opcode, std::vector<size_t> operands,
             std::string attributes = "", std::string inner = "");
  /// Appends parameter number `parameters.size()`.
  Ref add_parameter(std::string name, std::string shape, const ArrayType& array);

  /// Lines that `root` needs, as text between braces; parameters get numbers in order. `all_parameters`:
  /// those that nothing needs as well. Fills `kept` with the numbers of the parameters that are left.
  std::string text(size_t root, bool all_parameters, std::vector<size_t>& kept) const;
  /// Values that no instruction uses.
  std::vector<Ref> unused() const;

  std::vector<Line> lines;
  std::vector<Ref> values;  // arrays that later instructions may use
  std::vector<ArrayType> parameters;
  bool open = true;  // may ask for more parameters
};

/// The module under construction: names, decoration, computations already written.
class ModuleWriter {
 public:
  ModuleWriter(uint64_t seed, bool decorated);

  RandomSource random;
  std::vector<std::string> computations;

  std::string name(std::string_view stem);
  /// Text of an array shape, maybe with a layout that means nothing.
  std::string shape(const ArrayType& array);
  static std::string plain_shape(const ArrayType& array);
  std::string tuple_shape(const std::vector<ArrayType>& arrays);

  // ── instructions ────────────────────────────────────────────────
  Ref emit(Body& body, const ArrayType& result, std::string_view opcode, const std::vector<Ref>& operands,
           std::string attributes = "");
  /// An instruction whose result is a tuple, taken apart.
  std::vector<Ref> emit_tuple(Body& body, const std::vector<ArrayType>& results, std::string_view opcode,
                              const std::vector<Ref>& operands, std::string attributes = "");
  /// The same for an instruction that has been written already.
  std::vector<Ref> take_apart(Body& body, size_t tuple, const std::vector<ArrayType>& results);
  Ref constant(Body& body, ElementType type, std::string_view text);
  /// A scalar constant of moderate size.
  Ref random_constant(Body& body, ElementType type);
  /// A new parameter, where the body takes more; else a broadcast constant.
  Ref parameter(Body& body, const ArrayType& array);
  /// Some value of this very type: an old one, or one made of others.
  Ref obtain(Body& body, const ArrayType& array);
  /// Some value; a new one when there is none.
  Ref any(Body& body);
  /// Some value that holds(array), tried a few times.
  template <class F>
  std::optional<Ref> some(Body& body, F&& holds) {
    for (int i = 0; i < 6; ++i) {
      const Ref ref = any(body);
      if (holds(ref.array)) return ref;
    }
    return std::nullopt;
  }

  // ── computations ────────────────────────────────────────────────
  /// A computation of `count` scalar parameters of the types, with the result that `root` makes of them.
  template <class F>
  std::string computation_of(const std::vector<ElementType>& types, F&& root) {
    Body body;
    body.open = false;
    std::vector<Ref> parameters;
    for (const ElementType type : types)
      parameters.push_back(body.add_parameter(name("a"), plain_shape({type, {}}), {type, {}}));
    const size_t result = root(body, parameters);
    return write(body, result, true);
  }
  /// Writes a computation; returns its name.
  std::string write(const Body& body, size_t root, bool all_parameters);
  std::string write(const Body& body, size_t root, bool all_parameters, std::vector<size_t>& kept);

  ElementType random_type();
  ElementType random_float() {
    return random.one_of(
        {ElementType::kF32, ElementType::kF32, ElementType::kBF16, ElementType::kF64, ElementType::kF16});
  }
  /// Dimensions of at most `most` elements.
  Index random_dims(int64_t least_rank = 0, int64_t most_rank = 4, int64_t most = 4000);
  bool large = false;  // this module has larger arrays
  bool huge = false;   // so large that several threads share them

 private:
  RandomSource decoration_;
  bool decorated_;
  int names_ = 0;
};

// ── families: each appends one or several instructions, or nothing when no value suits ──
void generate_elementwise(ModuleWriter& w, Body& body);
void generate_conversion(ModuleWriter& w, Body& body);
void generate_movement(ModuleWriter& w, Body& body);
void generate_bitcast(ModuleWriter& w, Body& body);
void generate_dynamic(ModuleWriter& w, Body& body);
void generate_gather(ModuleWriter& w, Body& body);
void generate_scatter(ModuleWriter& w, Body& body);
void generate_reduce(ModuleWriter& w, Body& body);
void generate_runtime_size(ModuleWriter& w, Body& body);
void generate_normalized(ModuleWriter& w, Body& body);
void generate_reduce_window(ModuleWriter& w, Body& body);
void generate_select_and_scatter(ModuleWriter& w, Body& body);
void generate_map(ModuleWriter& w, Body& body);
void generate_scan(ModuleWriter& w, Body& body);
void generate_sort(ModuleWriter& w, Body& body);
void generate_topk(ModuleWriter& w, Body& body);
void generate_dot(ModuleWriter& w, Body& body);
void generate_ragged_dot(ModuleWriter& w, Body& body);
void generate_scaled_dot(ModuleWriter& w, Body& body);
void generate_convolution(ModuleWriter& w, Body& body);
void generate_linear_algebra(ModuleWriter& w, Body& body);
void generate_random_bits(ModuleWriter& w, Body& body);
void generate_fusion(ModuleWriter& w, Body& body);
void generate_call(ModuleWriter& w, Body& body);
void generate_while(ModuleWriter& w, Body& body);
void generate_conditional(ModuleWriter& w, Body& body);
void generate_plumbing(ModuleWriter& w, Body& body);

/// One operation that works element by element or moves elements: what clusters are made of.
void generate_cheap(ModuleWriter& w, Body& body);
/// Any one operation; `depth`: how deep calls may still nest.
void generate_any(ModuleWriter& w, Body& body, int depth);

/// A computation (x, y) -> result that reduces values of a type, of the kinds that have a name or of others.
std::string random_reducer(ModuleWriter& w, ElementType type);

}  // namespace hlosim::test
