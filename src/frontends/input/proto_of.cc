// Modules → HloProto.
#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

#include "base/text.h"
#include "hlo/cursor.h"
#include "hlo/graph.h"
#include "input/hlo.pb.h"
#include "input/proto_fields.h"
#include "input/proto_kept_text.h"
#include "input/proto_text.h"
#include "input/proto_values.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using internal::ProtoField;

template <class List, class Values>
void add_all(List* list, const Values& values) {
  for (const auto value : values) list->Add(static_cast<typename List::value_type>(value));
}

void set_layout(const Layout& layout, pb::Layout& proto) {
  add_all(proto.mutable_minor_to_major(), layout.minor_to_major);
  for (const Tile& tile : layout.tiles) add_all(proto.add_tiles()->mutable_dimensions(), tile.dimensions);
  for (const SplitConfig& split : layout.splits) {
    pb::Split& to = *proto.add_split_configs();
    to.set_dimension(split.dimension);
    add_all(to.mutable_split_indices(), split.indices);
  }
  proto.set_element_size_in_bits(layout.element_bits);
  proto.set_memory_space(layout.memory_space);
  proto.set_index_primitive_type(internal::proto_number(layout.index_type));
  proto.set_pointer_primitive_type(internal::proto_number(layout.pointer_type));
  proto.set_dynamic_shape_metadata_prefix_bytes(layout.metadata_prefix_bytes);
  if (layout.tail_padding_alignment != 1)
    proto.set_tail_padding_alignment_in_elements(layout.tail_padding_alignment);
}

class ProtoWriter {
 public:
  explicit ProtoWriter(const Module& module) : module_(module) {}
  const std::string& problem_found() const { return problem_; }

  void write(pb::Module& proto) {
    proto.set_name(std::string(module_.name));
    proto.set_entry_computation_name(std::string(module_.entry_computation().name));
    proto.set_entry_computation_id(number(module_.entry));
    for (const Attr& attr : module_.attrs) header(attr, proto);
    if (!module_.stack_frames.empty() && !stack_frames(*proto.mutable_stack_frame_index()))
      problem("the stack frames");
    for (const ComputationId id : callees_first(module_)) computation(id, *proto.add_computations());
    if (module_.is_scheduled()) {
      std::vector<ComputationId> by_number = callees_first(module_);
      std::sort(by_number.begin(), by_number.end(),
                [](ComputationId a, ComputationId b) { return a.index < b.index; });
      for (const ComputationId id : by_number) {
        pb::ScheduledComputation& scheduled = *proto.mutable_schedule()->add_sequences();
        scheduled.set_key(number(id));
        pb::InstructionSequence& sequence = *scheduled.mutable_value();
        for (const InstructionId instruction : module_[id].instructions)
          sequence.add_instruction_ids(number(instruction));
      }
    }
  }

 private:
  static int64_t number(ComputationId id) { return id.index + 1; }
  static int64_t number(InstructionId id) { return id.index + 1; }
  void problem(std::string what) {
    if (problem_.empty()) problem_ = std::move(what);
  }

  void header(const Attr& attr, pb::Module& proto) {
    // What stands in the configuration beside the module is no part of the proto.
    switch (attr.key) {
      case AttrKey::kIsScheduled:
      case AttrKey::kDebugAttributes:
      case AttrKey::kAliasPassthroughParams:
      case AttrKey::kAllowSpmdShardingPropagationToOutput:
      case AttrKey::kAllowSpmdShardingPropagationToParameters:
      case AttrKey::kOriginRecoveryTable:
        return;
      case AttrKey::kReplicaCount:
        proto.mutable_device_assignment()->set_replica_count(static_cast<int32_t>(attr.integer()));
        return;
      case AttrKey::kNumPartitions:
        proto.mutable_device_assignment()->set_computation_count(static_cast<int32_t>(attr.integer()));
        return;
      case AttrKey::kInputOutputAlias:
        for (const Alias& alias : attr.aliases()) {
          pb::AliasEntry& entry = *proto.mutable_input_output_alias()->add_entries();
          add_all(entry.mutable_output_shape_index(), alias.output_index);
          entry.set_parameter_number(alias.parameter);
          add_all(entry.mutable_parameter_shape_index(), alias.parameter_index);
          entry.set_kind(alias.must_alias ? 2 : 1);
        }
        return;
      case AttrKey::kBufferDonor:
        for (const Alias& donor : attr.aliases()) {
          pb::BufferDonorEntry& entry = *proto.mutable_buffer_donor()->add_entries();
          entry.set_parameter_number(donor.parameter);
          add_all(entry.mutable_parameter_shape_index(), donor.parameter_index);
        }
        return;
      case AttrKey::kEntryComputationLayout: {
        pb::ProgramShape& program = *proto.mutable_host_program_shape();
        for (const ShapeRef one : attr.shapes().first(attr.shapes().size() - 1))
          shape(one, *program.add_parameters());
        shape(attr.shapes().back(), *program.mutable_result());
        return;
      }
      case AttrKey::kFrontendAttributes:
        if (!KeptText(attr.text()).frontend(*proto.mutable_frontend_attributes()))
          problem("frontend_attributes of the module");
        return;
      default:
        problem(fmt::format("the module's {}", to_text(attr.key)));
    }
  }

  bool stack_frames(pb::StackFrameIndex& proto) {
    Cursor in(module_.stack_frames, 0, module_.stack_frames.size());
    for (const std::string_view table : {"FileNames", "FunctionNames", "FileLocations", "StackFrames"}) {
      if (in.word() != table) return false;
      while (Cursor::is_digit(in.peek())) {
        int64_t line = 0;
        if (!in.integer(line)) return false;
        if (table == "FileNames" || table == "FunctionNames") {
          std::string_view name;
          if (!in.string(name)) return false;
          (table == "FileNames" ? proto.add_file_names() : proto.add_function_names())
              ->assign(unquoted(name));
          continue;
        }
        Message* row = table == "FileLocations" ? static_cast<Message*>(proto.add_file_locations())
                                                : proto.add_stack_frames();
        if (!in.eat('{')) return false;
        while (!in.eat('}')) {
          const FieldDescriptor* field = row->GetDescriptor()->FindFieldByName(std::string(in.word()));
          int64_t value = 0;
          if (!field || !in.eat('=') || !in.integer(value)) return false;
          row->GetReflection()->SetInt32(row, field, static_cast<int32_t>(value));
        }
      }
    }
    store_parents(*proto.mutable_stack_frames());
    return true;
  }

  /// Texts have parents one higher than protos, so that 1 is none; those of some versions have them as they
  /// are, and 0 is none.
  template <class Frames>
  static void store_parents(Frames& frames) {
    const auto is_root = [](const auto& frame) { return frame.parent_frame_id() == 0; };
    if (std::any_of(frames.begin(), frames.end(), is_root)) return;
    for (auto& frame : frames)
      frame.set_parent_frame_id(static_cast<int32_t>(int64_t{frame.parent_frame_id()} - 1));
  }

  void shape(ShapeRef from, pb::Shape& proto) {
    for (const ShapeRef element : from->elements) shape(element, *proto.add_tuple_shapes());
    switch (from->kind) {
      case ShapeKind::kTuple:
        return proto.set_element_type(internal::kProtoTuple);
      case ShapeKind::kToken:
        return proto.set_element_type(internal::kProtoToken);
      case ShapeKind::kOpaque:
        return proto.set_element_type(internal::kProtoOpaque);
      case ShapeKind::kBuffer:
        return proto.set_element_type(internal::kProtoBuffer);
      case ShapeKind::kArray:
        break;
    }
    proto.set_element_type(internal::proto_number(from->element_type));
    if (proto.element_type() == 0) problem(fmt::format("the type {}", to_text(from->element_type)));
    add_all(proto.mutable_dimensions(), from->dimensions);
    for (const bool dynamic : from->dynamic) proto.add_is_dynamic_dimension(dynamic);
    if (from->layout) set_layout(*from->layout, *proto.mutable_layout());
  }

  void literal(const Literal& from, pb::Literal& proto) {
    shape(from.shape, *proto.mutable_shape());
    for (const Literal* element : from.elements) literal(*element, *proto.add_tuple_literals());
    if (!from.shape->is_array() || from.elided) return;
    const ElementType type = from.shape->element_type;
    const FieldDescriptor* field = proto.GetDescriptor()->FindFieldByName(std::string(to_text(type)) + "s");
    if (!field) return;  // the shape has said so
    const google::protobuf::Reflection& reflection = *proto.GetReflection();
    if (from.shape->element_count() >= (int64_t{1} << 31) / byte_width(type))
      return problem("2 GiB of values");
    std::string bytes(
        static_cast<size_t>(from.shape->element_count()) * static_cast<size_t>(byte_width(type)), '\0');
    const size_t given = std::min(bytes.size(), from.data.size());
    if (given > 0) std::memcpy(bytes.data(), from.data.data(), given);  // of nothing there may be no address
    if (!field->is_repeated()) return reflection.SetString(&proto, field, std::move(bytes));
    const auto add = [&](auto value, auto&& put) {
      for (size_t at = 0; at + sizeof value <= bytes.size(); at += sizeof value) {
        std::memcpy(&value, bytes.data() + at, sizeof value);
        put(value);
      }
    };
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_BOOL:
        add(uint8_t{}, [&](auto v) { reflection.AddBool(&proto, field, v != 0); });
        return;
      case FieldDescriptor::CPPTYPE_INT32:
        add(int32_t{}, [&](auto v) { reflection.AddInt32(&proto, field, v); });
        return;
      case FieldDescriptor::CPPTYPE_INT64:
        add(int64_t{}, [&](auto v) { reflection.AddInt64(&proto, field, v); });
        return;
      case FieldDescriptor::CPPTYPE_UINT32:
        add(uint32_t{}, [&](auto v) { reflection.AddUInt32(&proto, field, v); });
        return;
      case FieldDescriptor::CPPTYPE_UINT64:
        add(uint64_t{}, [&](auto v) { reflection.AddUInt64(&proto, field, v); });
        return;
      case FieldDescriptor::CPPTYPE_FLOAT:
        add(float{}, [&](auto v) { reflection.AddFloat(&proto, field, v); });
        return;
      default:
        add(double{}, [&](auto v) { reflection.AddDouble(&proto, field, v); });
        return;
    }
  }

  void computation(ComputationId id, pb::Computation& proto) {
    const Computation& computation = module_[id];
    proto.set_name(std::string(computation.name));
    proto.set_id(number(id));
    proto.set_root_id(number(computation.root));
    proto.set_execution_thread(std::string(computation.execution_thread));
    for (const InstructionId instruction : computation.instructions)
      write_instruction(instruction, *proto.add_instructions());
  }

  void write_instruction(InstructionId id, pb::Instruction& proto) {
    const Instruction& instruction = module_[id];
    proto.set_name(std::string(instruction.name));
    proto.set_opcode(std::string(to_text(instruction.opcode)));
    proto.set_id(number(id));
    shape(instruction.shape, *proto.mutable_shape());
    for (const InstructionId operand : instruction.operands) proto.add_operand_ids(number(operand));
    if (instruction.parameter_number >= 0) proto.set_parameter_number(instruction.parameter_number);
    if (instruction.literal && !instruction.literal->elided)
      literal(*instruction.literal, *proto.mutable_literal());
    write_thread(instruction, proto);
    for (const Attr& attr : instruction.attrs)
      if (!attribute(instruction, attr, proto))
        problem(fmt::format("{} of {}", to_text(attr.key), shown(instruction.name)));
    const OpDef& def = op_table()[instruction.opcode];
    for (const ProtoField& field : internal::proto_fields())
      if (field.is_always_said && internal::find_spec(def, field.key) && !instruction.find(field.key))
        simple(Attr::make_bool(field.key, true), field, proto);
    for (const AttrKey key : internal::calling_attributes())
      if (const Attr* attr = instruction.find(key))
        for (const ComputationId called : attr->computations())
          proto.add_called_computation_ids(number(called));
  }

  /// A start that names no thread has that of what it wraps, which texts made from the proto don't show.
  void write_thread(const Instruction& instruction, pb::Instruction& proto) {
    if (op_table()[instruction.opcode].rules.value != ValueRule::kAsyncStart) return;
    const Attr* wrapped = instruction.find(AttrKey::kCalls);
    if (!wrapped) return;
    const std::string_view thread = module_[wrapped->computations()[0]].execution_thread;
    if (thread != "main") proto.set_async_execution_thread(std::string(thread));
  }

  bool attribute(const Instruction& instruction, const Attr& attr, pb::Instruction& proto) {
    if (attr.holds_computations()) return true;  // all of an instruction together
    if (attr.key == AttrKey::kOrigin || attr.key == AttrKey::kStatistics) return true;  // of debuggers
    if (attr.key == AttrKey::kChannelId && needs_channel(instruction) && attr.integer() <= 0) return false;
    const OpDef& def = op_table()[instruction.opcode];
    if (const ProtoField* field = internal::proto_field(def, attr.key)) return simple(attr, *field, proto);
    switch (attr.syntax) {
      case AttrSyntax::kWindow:
        return window(attr.window(), *proto.mutable_window());
      case AttrSyntax::kDimLabels:
        return dim_labels(attr.dim_labels(), *proto.mutable_convolution_dimension_numbers());
      case AttrSyntax::kSlices:
      case AttrSyntax::kPadding:
      case AttrSyntax::kPairs:
      case AttrSyntax::kIntLists:
        return int_lists(attr, proto);
      case AttrSyntax::kNumber:
        return proto.set_epsilon(static_cast<float>(attr.number())), true;
      case AttrSyntax::kShape:
        return shape(attr.shapes()[0], *proto.mutable_outfeed_shape()), true;
      case AttrSyntax::kShapes:
        proto.set_constrain_layout(true);
        for (const ShapeRef one : attr.shapes()) shape(one, *proto.add_operand_shapes_with_layout());
        return true;
      case AttrSyntax::kReplicaGroups:
        return replica_groups(attr.replica_groups(), *proto.mutable_collective_device_list());
      case AttrSyntax::kAliases:
        return aliases(attr.aliases(), proto);
      case AttrSyntax::kInstructions:
        for (const InstructionId before : attr.instructions())
          proto.add_control_predecessor_ids(number(before));
        return true;
      case AttrSyntax::kLiteral:
        return literal(attr.literal(), *proto.mutable_literal()), true;
      case AttrSyntax::kSharding:
        return KeptText(attr.text()).sharding(*proto.mutable_sharding());
      case AttrSyntax::kMetadata:
        return KeptText(attr.text()).metadata(*proto.mutable_metadata());
      case AttrSyntax::kFrontend:
        return KeptText(attr.text()).frontend(*proto.mutable_frontend_attributes());
      case AttrSyntax::kAccuracy:
        return KeptText(attr.text()).accuracy(*proto.mutable_result_accuracy());
      case AttrSyntax::kConfig:
        return proto.set_backend_config(unquoted(attr.text())), true;
      case AttrSyntax::kBool:
        return !attr.flag();  // what isn't so needs no place
      default:
        return false;
    }
  }

  /// Readers of protos take channel 0 for none, which is as well elsewhere.
  static bool needs_channel(const Instruction& instruction) {
    const Attr* global_ids = instruction.find(AttrKey::kUseGlobalDeviceIds);
    return global_ids && global_ids->flag();
  }

  static bool window(const Window& window, pb::Window& proto) {
    for (const WindowDimension& from : window.dimensions) {
      pb::WindowDimension& to = *proto.add_dimensions();
      to.set_size(from.size);
      to.set_stride(from.stride);
      to.set_padding_low(from.padding_low);
      to.set_padding_high(from.padding_high);
      to.set_window_dilation(from.window_dilation);
      to.set_base_dilation(from.base_dilation);
      to.set_window_reversal(from.reversal);
    }
    return true;
  }

  static bool int_lists(const Attr& attr, pb::Instruction& proto) {
    // Sizes of a collective-permute in place are one list behind the other; other lists have rows of their
    // own.
    if (attr.syntax == AttrSyntax::kIntLists && attr.key != AttrKey::kSliceSizes) return false;
    for (const std::span<const int64_t> from : attr.int_lists()) {
      if (attr.syntax == AttrSyntax::kSlices) {
        pb::SliceDimensions& to = *proto.add_slice_dimensions();
        to.set_start(from[0]);
        to.set_limit(from[1]);
        to.set_stride(from[2]);
      } else if (attr.syntax == AttrSyntax::kPadding) {
        pb::PaddingDimension& to = *proto.mutable_padding_config()->add_dimensions();
        to.set_edge_padding_low(from[0]);
        to.set_edge_padding_high(from[1]);
        to.set_interior_padding(from[2]);
      } else if (attr.syntax == AttrSyntax::kPairs) {
        pb::SourceTarget& to = *proto.add_source_target_pairs();
        to.set_source(from[0]);
        to.set_target(from[1]);
      } else {
        add_all(proto.mutable_dynamic_slice_sizes(), from);
      }
    }
    return true;
  }

  static bool aliases(std::span<const Alias> aliases, pb::Instruction& proto) {
    for (const Alias& alias : aliases) {
      pb::OutputOperandAliasing& to = *proto.add_output_operand_aliasing();
      add_all(to.mutable_output_shape_index(), alias.output_index);
      to.set_operand_index(alias.parameter);
      add_all(to.mutable_operand_shape_index(), alias.parameter_index);
    }
    return true;
  }

  bool dim_labels(const ConvolutionDimensions& from, pb::ConvolutionDimensionNumbers& to) {
    to.set_input_batch_dimension(from.input_batch);
    to.set_input_feature_dimension(from.input_feature);
    to.set_kernel_input_feature_dimension(from.kernel_input_feature);
    to.set_kernel_output_feature_dimension(from.kernel_output_feature);
    to.set_output_batch_dimension(from.output_batch);
    to.set_output_feature_dimension(from.output_feature);
    add_all(to.mutable_input_spatial_dimensions(), from.input_spatial);
    add_all(to.mutable_kernel_spatial_dimensions(), from.kernel_spatial);
    add_all(to.mutable_output_spatial_dimensions(), from.output_spatial);
    return dim_labels_text(to) == from.text;
  }

  bool replica_groups(const ReplicaGroups& from, pb::CollectiveDeviceList& to) {
    switch (from.form) {
      case ReplicaGroups::Form::kMesh:
        return false;
      case ReplicaGroups::Form::kList:
        for (const auto& group : from.groups) add_all(to.add_replica_groups()->mutable_replica_ids(), group);
        return true;
      case ReplicaGroups::Form::kIota:
        break;
    }
    if (from.iota_dimensions.size() != 2) return false;
    pb::IotaReplicaGroups& iota = *to.mutable_iota_replica_group_list();
    iota.set_num_replica_groups(from.iota_dimensions[0]);
    iota.set_num_devices_per_group(from.iota_dimensions[1]);
    add_all(iota.mutable_iota_reshape_dims(), from.iota_reshape);
    add_all(iota.mutable_iota_transpose_perm(), from.iota_transpose);
    for (size_t i = 0; from.iota_transpose.empty() && i < from.iota_reshape.size(); ++i)
      iota.add_iota_transpose_perm(static_cast<int32_t>(i));
    return true;
  }

  /// One value into one field.
  bool simple(const Attr& attr, const ProtoField& row, pb::Instruction& instruction) {
    Message* message = &instruction;
    std::string_view path = row.path;
    const FieldDescriptor* field = nullptr;
    for (;;) {
      const size_t dot = path.find('.');
      field = message->GetDescriptor()->FindFieldByName(std::string(path.substr(0, dot)));
      if (dot == std::string_view::npos) break;
      message = message->GetReflection()->MutableMessage(message, field);
      path.remove_prefix(dot + 1);
    }
    const google::protobuf::Reflection& reflection = *message->GetReflection();
    const auto word_number = [&](std::string_view word) {
      const auto at = std::find(row.words.begin(), row.words.end(), word);
      return at == row.words.end() ? -1 : static_cast<int32_t>(at - row.words.begin());
    };
    const auto put = [&](int64_t value) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT32)
        reflection.SetInt32(message, field, static_cast<int32_t>(value));
      else if (field->is_repeated())
        reflection.AddInt64(message, field, value);
      else
        reflection.SetInt64(message, field, value);
      return true;
    };
    switch (attr.syntax) {
      case AttrSyntax::kInts:
      case AttrSyntax::kInts1:
        for (const int64_t value : attr.ints()) reflection.AddInt64(message, field, value);
        return true;
      case AttrSyntax::kBools:
        for (const int64_t value : attr.ints()) reflection.AddBool(message, field, value != 0);
        return true;
      case AttrSyntax::kInt:
        return put(attr.integer());
      case AttrSyntax::kBool:
        if (!row.words.empty()) return put(word_number(attr.flag() ? "true" : "false"));
        return reflection.SetBool(message, field, attr.flag()), true;
      case AttrSyntax::kString:
        return reflection.SetString(message, field, unquoted(attr.text())), true;
      case AttrSyntax::kWord: {
        if (row.words.empty()) return reflection.SetString(message, field, std::string(attr.text())), true;
        const int32_t found = word_number(attr.text());
        return found >= 0 && put(found);
      }
      case AttrSyntax::kWords:
        for (const std::string_view word : attr.words()) {
          const int32_t found = word_number(word);
          if (found < 0) return false;
          reflection.AddInt32(message, field, found);
        }
        return true;
      default:
        return false;
    }
  }

  const Module& module_;
  std::string problem_;
};

}  // namespace

Result<std::string> proto_of(const Module& module) {
  pb::HloProto proto;
  ProtoWriter writer(module);
  writer.write(*proto.mutable_hlo_module());
  if (!writer.problem_found().empty())
    return failure(
        fmt::format("module {}: HloProto has no place for {}", module.name, writer.problem_found()));
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  if (!proto.SerializeToCodedStream(&coded))
    return failure(fmt::format("module {}: too large for a proto", module.name));
  coded.Trim();
  return bytes;
}

}  // namespace hlosim
