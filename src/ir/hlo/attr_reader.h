// Values of attributes: text after `key=` → Attr.
//
//   AttrReader attributes(cursor, module, shapes, names);
//   Attr attr;
//   if (!attributes.read(AttrKey::kDimensions, AttrSyntax::kInts, attr)) …  // cursor.error()
#pragma once

#include "hlo/attr.h"
#include "hlo/cursor.h"
#include "hlo/module.h"
#include "layout/shape_text.h"

namespace hlosim {

/// How attribute values find what they name.
class NameResolver {
 public:
  virtual ~NameResolver() = default;
  /// A computation by name, or an inline body `{...}`.
  virtual bool read_computation(ComputationId& id) = 0;
  /// An instruction of the computation at hand, defined earlier.
  virtual bool read_instruction(InstructionId& id) = 0;
};

class AttrReader {
 public:
  AttrReader(Cursor& cursor, Module& module, ShapeReader& shapes, NameResolver& names)
      : in_(cursor), module_(module), shapes_(shapes), names_(names) {}

  /// Reads the value of `key`, whose syntax is `syntax`; false with the cursor's error set.
  bool read(AttrKey key, AttrSyntax syntax, Attr& attr);

  bool read_shape(ShapeRef& shape);

 private:
  bool read_value(AttrKey key, AttrSyntax syntax, Attr& attr);
  bool read_scalar(AttrKey key, AttrSyntax syntax, Attr& attr);
  bool read_word(AttrKey key, std::string_view& canonical);
  bool read_words(AttrKey key, Attr& attr);
  bool read_int_list(AttrKey key, AttrSyntax syntax, Attr& attr);
  bool read_int_lists(AttrKey key, AttrSyntax syntax, Attr& attr);
  bool read_bools(AttrKey key, AttrSyntax syntax, Attr& attr);
  bool read_slices(AttrKey key, Attr& attr);
  bool read_padding(AttrKey key, Attr& attr);
  bool read_computations(AttrKey key, AttrSyntax syntax, Attr& attr);
  bool read_instructions(AttrKey key, Attr& attr);
  bool read_window(AttrKey key, Attr& attr);
  bool read_window_field(std::string_view field, std::vector<int64_t>& values);
  bool read_dim_labels(AttrKey key, Attr& attr);
  bool read_shapes(AttrKey key, AttrSyntax syntax, Attr& attr);
  bool read_literal(AttrKey key, Attr& attr);
  bool read_replica_groups(AttrKey key, Attr& attr);
  bool read_aliases(AttrKey key, AttrSyntax syntax, Attr& attr);
  bool read_alias_entry(AttrSyntax syntax, Alias& alias);
  bool read_shape_index(std::span<const int64_t>& index);
  bool read_kept_text(AttrKey key, AttrSyntax syntax, Attr& attr);
  template <class T>
  Attr list(AttrKey key, AttrSyntax syntax, const std::vector<T>& values) {
    return Attr::make_list(key, syntax, std::span<const T>(module_.arena().copy(values)));
  }

  Cursor& in_;
  Module& module_;
  ShapeReader& shapes_;
  NameResolver& names_;
};

// The grammars of attribute values that are kept as written; each passes over one value.
bool scan_kept(Cursor& in, AttrKey key, AttrSyntax syntax);
bool scan_metadata(Cursor& in);             // {op_name="x" source_line=3 …}
bool scan_frontend_attributes(Cursor& in);  // {key="value",key={...}}
bool scan_sharding(Cursor& in);             // {devices=[2,1]0,1}, {{…},{…}}, {mesh[…], …}
bool scan_accuracy(Cursor& in);             // {mode=highest} or {tolerance={atol=1,…}}
bool scan_debug_attributes(Cursor& in);     // { {"v" {0}} : (…), … }
bool scan_statistics(Cursor& in);           // {visualizing_index=1,a=0.5}
bool scan_origin(Cursor& in);               // {({"a" {0}}, {})} or {[synthetic_call]}
/// mesh['x'=2,'y'=4][, device_ids=(…)] or maximal_mesh[device_id=n]; gives the axis sizes' names.
bool scan_mesh(Cursor& in, std::vector<std::string_view>& axes);
/// {'x','y':(2)2}
bool scan_axis_list(Cursor& in, const std::vector<std::string_view>& axes);

}  // namespace hlosim
