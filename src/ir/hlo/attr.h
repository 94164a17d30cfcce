// Attribute values of instructions and module headers, as trivially copyable views into the
// arena (or the source text) of their module.
//
// Each attribute has a syntax, which says both how it is written and which accessor reads it:
//   dimensions={0,1}        kInts      -> ints()
//   direction=EQ            kWord      -> text()
//   window={size=3 pad=1_1} kWindow    -> window()
//   metadata={...}          kMetadata  -> text(), kept as written; decode_metadata() in metadata.h
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/id.h"
#include "hlo/opcode.h"
#include "layout/shape.h"

namespace hlosim {

using InstructionId = Id<struct InstructionTag>;  // unique in the module
using ComputationId = Id<struct ComputationTag>;

struct Literal;

enum class AttrSyntax : uint8_t {
  kBool,           // true                               flag()
  kInt,            // 3                                  integer()
  kNumber,         // 0.001                              number()
  kWord,           // EQ, one of attr_words(key)         text(), canonical spelling
  kWords,          // {default,highest}                  words()
  kString,         // "..."                              text(), as written, with its quotes
  kConfig,         // "..." or a raw {...} block         text(), as written
  kInts,           // {0,1}                              ints()
  kInts1,          // {0}: exactly one                   ints()
  kIntLists,       // {{0,1},{2,3}}                      int_lists()
  kPairs,          // {{0,1},{1,2}}: lists of two        int_lists()
  kBools,          // {true,false}                       ints(), 0 or 1
  kBoolOrBools,    // true or {true,false}               ints()
  kSlices,         // {[0:4],[1:9:2]}                    int_lists(), {start,limit,stride} each
  kPadding,        // 0_1x2_3_1                          int_lists(), {low,high,interior} each
  kComputation,    // name or inline body                computations(), one
  kComputations,   // {a, b}                             computations()
  kInstructions,   // {a, b} of the same computation     instructions()
  kWindow,         // {size=3x3 ...}                     window()
  kDimLabels,      // bf01_01io->bf01                    dim_labels()
  kShape,          // f32[2]                             shapes(), one
  kShapes,         // {f32[2],f32[3]}                    shapes()
  kEntryLayout,    // {(f32[2])->f32[2]}                 shapes(): parameters, then the result
  kLiteral,        // f32[2] {1,2}                       literal()
  kReplicaGroups,  // {{0},{1}} | [2,4]<=[8] | mesh...   replica_groups()
  kAliases,        // { {0}: (1, {}, may-alias) }        aliases()
  kDonors,         // { (1, {}) }                        aliases(), output_index empty
  kSharding,       // {devices=[2,1]0,1}                 text(), as written
  kMetadata,       // {op_name="x" ...}                  text(), as written
  kFrontend,       // {a="b",c={...}}                    text(), as written
  kAccuracy,       // {mode=highest}                     text(), as written
  kBraces,         // balanced {...}                     text(), as written
};

/// One dimension of a window. All sizes in elements.
struct WindowDimension {
  int64_t size = 1, stride = 1, padding_low = 0, padding_high = 0;
  int64_t base_dilation = 1;    // lhs_dilate: holes between input elements
  int64_t window_dilation = 1;  // rhs_dilate: holes between window elements
  bool reversal = false;        // rhs_reversal
};

struct Window {
  std::span<const WindowDimension> dimensions;
};

/// Which dimension of each operand plays which part in a convolution; -1: written as `?` or absent.
struct ConvolutionDimensions {
  int64_t input_batch = -1, input_feature = -1;
  int64_t kernel_input_feature = -1, kernel_output_feature = -1;
  int64_t output_batch = -1, output_feature = -1;
  std::span<const int64_t> input_spatial, kernel_spatial, output_spatial;  // same length
  std::string_view text;                                                   // as written
};

/// replica_groups, kept in the form it was written in; expand_replica_groups() lists the members.
struct ReplicaGroups {
  enum class Form : uint8_t { kList, kIota, kMesh };
  Form form = Form::kList;
  std::span<const std::span<const int64_t>> groups;  // kList; empty = one group of all devices
  std::span<const int64_t> iota_dimensions;          // kIota: [G,N]
  std::span<const int64_t> iota_reshape;             // kIota: <=[..]
  std::span<const int64_t> iota_transpose;           // kIota: T(..), empty when absent
  std::string_view text;                             // kMesh: as written
};

/// One entry of input_output_alias, buffer_donor or output_to_operand_aliasing.
struct Alias {
  std::span<const int64_t> output_index;
  int64_t parameter = 0;  // entry parameter or operand number
  std::span<const int64_t> parameter_index;
  bool must_alias = false;
};

class Attr {
 public:
  AttrKey key{};
  AttrSyntax syntax{};
  uint32_t offset = 0;  // of the value, in the module's source

  bool flag() const { return check(AttrSyntax::kBool), integer_ != 0; }
  int64_t integer() const { return check(AttrSyntax::kInt), integer_; }
  double number() const;
  std::string_view text() const { return {static_cast<const char*>(data_), size_}; }
  std::span<const int64_t> ints() const { return view<int64_t>(); }
  std::span<const std::span<const int64_t>> int_lists() const { return view<std::span<const int64_t>>(); }
  std::span<const std::string_view> words() const { return view<std::string_view>(); }
  std::span<const ComputationId> computations() const { return view<ComputationId>(); }
  std::span<const InstructionId> instructions() const { return view<InstructionId>(); }
  std::span<const ShapeRef> shapes() const { return view<ShapeRef>(); }
  std::span<const Alias> aliases() const { return view<Alias>(); }
  const Window& window() const { return *static_cast<const Window*>(data_); }
  const ConvolutionDimensions& dim_labels() const {
    return *static_cast<const ConvolutionDimensions*>(data_);
  }
  const ReplicaGroups& replica_groups() const { return *static_cast<const ReplicaGroups*>(data_); }
  const Literal& literal() const { return *static_cast<const Literal*>(data_); }
  bool holds_computations() const {
    return syntax == AttrSyntax::kComputation || syntax == AttrSyntax::kComputations;
  }

  // Makers. The pointed-to data must live as long as the module.
  static Attr make_bool(AttrKey key, bool value) { return Attr(key, AttrSyntax::kBool, value); }
  static Attr make_int(AttrKey key, int64_t value) { return Attr(key, AttrSyntax::kInt, value); }
  static Attr make_text(AttrKey key, AttrSyntax syntax, std::string_view text) {
    return Attr(key, syntax, text.data(), text.size());
  }
  template <class T>
  static Attr make_list(AttrKey key, AttrSyntax syntax, std::span<const T> values) {
    return Attr(key, syntax, values.data(), values.size());
  }
  template <class T>
  static Attr make_struct(AttrKey key, AttrSyntax syntax, const T* value) {
    return Attr(key, syntax, value, 1);
  }
  Attr() : integer_(0) {}

 private:
  Attr(AttrKey k, AttrSyntax s, int64_t value) : key(k), syntax(s), integer_(value) {}
  Attr(AttrKey k, AttrSyntax s, const void* data, size_t size)
      : key(k), syntax(s), size_(size), data_(data) {}
  void check(AttrSyntax wanted) const { HLOSIM_CHECK(syntax == wanted, "attribute {}", to_text(key)); }
  template <class T>
  std::span<const T> view() const {
    return {static_cast<const T*>(data_), size_};
  }

  size_t size_ = 0;
  union {
    const void* data_;
    int64_t integer_;
  };
};

/// Sorted words that a kWord attribute may take, canonical spelling; empty: any.
std::span<const std::string_view> attr_words(AttrKey key);

/// Group members, in listed order. For {} one group of 0..`everybody`-1. Mesh forms are expanded by
/// their axes. Requires: groups were read without error.
std::vector<std::vector<int64_t>> expand_replica_groups(const ReplicaGroups& groups, int64_t everybody);

}  // namespace hlosim
