// Parts of HLO protos as HLO text: shapes, literals, shardings, windows and the like.
//
//   ProtoValues values(scratch);
//   const std::string shape = values.shape_text(proto.shape());  // "f32[2,3]{1,0}"
//   if (!values.problem().empty()) …
#pragma once

#include <string>
#include <string_view>

#include "hlo/module.h"

namespace hlosim {

namespace pb {
class ConvolutionDimensionNumbers;
class FrontendAttributes;
class Instruction;
class Layout;
class Literal;
class OpMetadata;
class OpSharding;
class PaddingConfig;
class ResultAccuracy;
class Shape;
class StackFrameIndex;
class Window;
}  // namespace pb

/// Can `text` stand for a name in HLO text?
bool is_hlo_name(std::string_view text);
/// With quotes and escapes.
std::string quoted(std::string_view text);
/// What a quoted text means; texts without quotes as they are.
std::string unquoted(std::string_view text);
/// `{...}` as it is where braces are balanced, else quoted.
std::string config_text(std::string_view text);

template <class List>
std::string int_list(const List& values) {
  std::string out = "{";
  for (const auto value : values) out += (out.size() > 1 ? "," : "") + std::to_string(value);
  return out + "}";
}

std::string window_text(const pb::Window& window);
/// Empty: the numbers are not those of dimensions, each once.
std::string dim_labels_text(const pb::ConvolutionDimensionNumbers& numbers);
std::string slices_text(const pb::Instruction& instruction);
std::string padding_text(const pb::PaddingConfig& config);
std::string replica_groups_text(const pb::Instruction& instruction);  // empty: none
/// Empty: not understood.
std::string sharding_text(const pb::OpSharding& sharding);
std::string metadata_text(const pb::OpMetadata& metadata);
std::string frontend_text(const pb::FrontendAttributes& attributes);
std::string accuracy_text(const pb::ResultAccuracy& accuracy);  // empty: the usual one
std::string stack_frame_text(const pb::StackFrameIndex& index);

/// Shapes and literals, made in a module that serves for nothing else.
class ProtoValues {
 public:
  explicit ProtoValues(Module& scratch) : scratch_(scratch) {}
  std::string shape_text(const pb::Shape& shape);
  std::string literal_text(const pb::Literal& literal);
  std::string typed_literal_text(const pb::Literal& literal);
  /// The first thing that was not understood; empty: none.
  const std::string& problem() const { return problem_; }

 private:
  ShapeRef shape(const pb::Shape& shape);
  const Layout* layout(const pb::Layout& layout);
  const Literal* literal(const pb::Literal& literal);
  ShapeRef fail(std::string what);

  Module& scratch_;
  std::string problem_;
};

}  // namespace hlosim
