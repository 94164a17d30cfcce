// HLO protos → text.
#include "input/proto_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/text.h"
#include "hlo/printer.h"
#include "hlo/reader.h"
#include "input/hlo.pb.h"
#include "input/proto_fields.h"
#include "input/proto_values.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using internal::ProtoField;

/// The message and the field that a dotted path leads to.
struct Place {
  const Message* message = nullptr;
  const FieldDescriptor* field = nullptr;
};
Place follow(const Message& top, std::string_view path) {
  const Message* message = &top;
  for (;;) {
    const size_t dot = path.find('.');
    const FieldDescriptor* field =
        message->GetDescriptor()->FindFieldByName(std::string(path.substr(0, dot)));
    HLOSIM_CHECK(field, "no field {}", path);
    if (dot == std::string_view::npos) return {message, field};
    message = &message->GetReflection()->GetMessage(*message, field);
    path.remove_prefix(dot + 1);
  }
}

class TextWriter {
  using P = pb::Instruction;

 public:
  explicit TextWriter(const pb::Module& module) : module_(module), values_(scratch_) {
    for (const auto& scheduled : module_.schedule().sequences())
      sequences_[scheduled.key()] = &scheduled.value();  // of equal keys the last
  }

  std::string write() {
    for (const pb::Computation& computation : module_.computations()) {
      computation_names_[computation.id()] = computation.name();
      for (const pb::Instruction& instruction : computation.instructions())
        if (!is_hlo_name(instruction.name()))
          problem(fmt::format("the name '{}'", shown(instruction.name())));
      if (!is_hlo_name(computation.name())) problem(fmt::format("the name '{}'", shown(computation.name())));
    }
    if (!is_hlo_name(module_.name())) problem(fmt::format("the name '{}'", shown(module_.name())));
    header();
    for (const pb::Computation& computation : module_.computations()) write_computation(computation);
    return std::move(out_);
  }
  const std::string& problem_found() const { return !problem_.empty() ? problem_ : values_.problem(); }

 private:
  void problem(std::string what) {
    if (problem_.empty()) problem_ = std::move(what);
  }
  void check_keys(const pb::FrontendAttributes& attributes) {
    for (const auto& entry : attributes.map())
      if (!is_hlo_name(entry.key()))
        problem(fmt::format("the key '{}' of frontend_attributes", shown(entry.key())));
  }
  void key(AttrKey name) {
    out_ += ", ";
    out_ += to_text(name);
    out_ += '=';
  }

  // ── header ──

  void header() {
    out_ += "HloModule ";
    out_ += module_.name();
    if (module_.has_schedule()) out_ += ", is_scheduled=true";
    if (module_.input_output_alias().entries_size() > 0) {
      out_ += ", input_output_alias={ ";
      for (int i = 0; i < module_.input_output_alias().entries_size(); ++i) {
        const pb::AliasEntry& entry = module_.input_output_alias().entries(i);
        if (entry.kind() != 1 && entry.kind() != 2)
          problem(fmt::format("kind {} of input_output_alias", entry.kind()));
        out_ += fmt::format("{}{}: ({}, {}, {})", i ? ", " : "", int_list(entry.output_shape_index()),
                            entry.parameter_number(), int_list(entry.parameter_shape_index()),
                            entry.kind() == 2 ? "must-alias" : "may-alias");
      }
      out_ += " }";
    }
    if (module_.buffer_donor().entries_size() > 0) {
      out_ += ", buffer_donor={ ";
      for (int i = 0; i < module_.buffer_donor().entries_size(); ++i) {
        const pb::BufferDonorEntry& entry = module_.buffer_donor().entries(i);
        out_ += fmt::format("{}({}, {})", i ? ", " : "", entry.parameter_number(),
                            int_list(entry.parameter_shape_index()));
      }
      out_ += " }";
    }
    if (module_.has_host_program_shape()) {
      out_ += ", entry_computation_layout={(";
      const pb::ProgramShape& program = module_.host_program_shape();
      for (int i = 0; i < program.parameters_size(); ++i)
        out_ += (i ? ", " : "") + values_.shape_text(program.parameters(i));
      out_ += ")->" + values_.shape_text(program.result()) + "}";
    }
    const pb::DeviceAssignment& devices = module_.device_assignment();
    if (devices.replica_count() > 1) out_ += fmt::format(", replica_count={}", devices.replica_count());
    if (devices.computation_count() > 1)
      out_ += fmt::format(", num_partitions={}", devices.computation_count());
    check_keys(module_.frontend_attributes());
    if (module_.has_frontend_attributes())
      out_ += ", frontend_attributes=" + frontend_text(module_.frontend_attributes());
    out_ += "\n\n";
    if (module_.has_stack_frame_index()) out_ += stack_frame_text(module_.stack_frame_index());
  }

  // ── computations ──

  std::vector<const pb::Instruction*> order_of(const pb::Computation& computation) {
    std::vector<const pb::Instruction*> order;
    const auto sequence = sequences_.find(computation.id());
    if (sequence == sequences_.end()) {
      for (const pb::Instruction& instruction : computation.instructions()) order.push_back(&instruction);
      return order;
    }
    for (const int64_t id : sequence->second->instruction_ids()) {
      const pb::Instruction* instruction = find(id);
      if (!instruction) return problem(fmt::format("instruction {} of the schedule", id)), order;
      order.push_back(instruction);
    }
    const std::set<const pb::Instruction*> all(order.begin(), order.end());
    if (order.size() != static_cast<size_t>(computation.instructions_size()) || all.size() != order.size())
      problem(fmt::format("the schedule of {}, which has not each of its instructions once",
                          shown(computation.name())));
    return order;
  }

  const pb::Instruction* find(int64_t id) const {
    auto at = by_id_.find(id);
    if (at == by_id_.end()) at = by_id_.find(id & 0xffffffff);  // numbers that leave out the computation's
    return at == by_id_.end() ? nullptr : at->second;
  }

  void write_computation(const pb::Computation& computation) {
    by_id_.clear();
    for (const pb::Instruction& instruction : computation.instructions()) {
      by_id_[instruction.id()] = &instruction;
      by_id_.try_emplace(instruction.id() & 0xffffffff, &instruction);
    }
    const bool is_entry = module_.entry_computation_id()
                              ? computation.id() == module_.entry_computation_id()
                              : computation.name() == module_.entry_computation_name();
    out_ += is_entry ? "ENTRY %" : "%";
    out_ += computation.name();
    out_ += " {\n";
    const pb::Instruction* root = find(computation.root_id());
    if (!root) problem(fmt::format("root_id {} of {}", computation.root_id(), shown(computation.name())));
    for (const pb::Instruction* instruction : order_of(computation)) {
      out_ += instruction == root ? "  ROOT " : "  ";
      write_instruction(*instruction);
      out_ += '\n';
    }
    out_ += '}';
    if (!computation.execution_thread().empty() && computation.execution_thread() != "main")
      out_ += ", execution_thread=" + hlosim::quoted(computation.execution_thread());
    out_ += "\n\n";
  }

  // ── instructions ──

  void write_instruction(const pb::Instruction& instruction) {
    Opcode opcode{};
    if (!parse_opcode(instruction.opcode(), opcode))
      return problem(fmt::format("the opcode '{}'", shown(instruction.opcode())));
    const OpDef& def = op_table()[opcode];
    seen_ = {P::kNameFieldNumber, P::kOpcodeFieldNumber, P::kShapeFieldNumber, P::kIdFieldNumber,
             P::kOperandIdsFieldNumber};
    out_ += '%';
    out_ += instruction.name();
    out_ += " = " + values_.shape_text(instruction.shape()) + ' ';
    out_ += def.name;
    out_ += '(';
    write_operands(instruction, opcode);
    out_ += ')';
    for (const ProtoField& field : internal::proto_fields()) {
      if (field.key == AttrKey::kConstrainLayout) write_communication(instruction, def);  // in XLA's order
      if (knows(def, field)) write_field(instruction, field, def);
    }
    write_structures(instruction, def);
    write_called(instruction, def);
    write_common(instruction);
    look_for_rest(instruction);
  }

  static bool knows(const OpDef& def, const ProtoField& field) {
    if (field.key == AttrKey::kParameterReplication) return true;  // every opcode
    return internal::find_spec(def, field.key) && internal::proto_field(def, field.key) == &field;
  }

  void write_operands(const pb::Instruction& instruction, Opcode opcode) {
    if ((opcode == Opcode::kParameter || opcode == Opcode::kConstant) && instruction.operand_ids_size() > 0)
      problem(fmt::format("operand_ids of {}, a {}", shown(instruction.name()), instruction.opcode()));
    if (opcode == Opcode::kParameter) {
      seen_.insert(P::kParameterNumberFieldNumber);
      out_ += std::to_string(instruction.parameter_number());
      return;
    }
    if (opcode == Opcode::kConstant) {
      seen_.insert(P::kLiteralFieldNumber);
      out_ += instruction.has_literal() ? values_.literal_text(instruction.literal()) : "{...}";
      return;
    }
    for (int i = 0; i < instruction.operand_ids_size(); ++i) {
      const pb::Instruction* operand = find(instruction.operand_ids(i));
      if (!operand)
        return problem(
            fmt::format("operand_ids {} of {}", instruction.operand_ids(i), shown(instruction.name())));
      out_ += i ? ", %" : "%";
      out_ += operand->name();
    }
  }

  /// Is the value what the text leaves unsaid?
  bool is_silent(const Place& place, const ProtoField& field, const AttrSpec* spec) const {
    const Reflection& reflection = *place.message->GetReflection();
    if (place.field->is_repeated()) {
      const int size = reflection.FieldSize(*place.message, place.field);
      if (size == 0) return !field.written_when_empty && !(spec && spec->required);
      if (field.key != AttrKey::kOperandPrecision) return false;
      for (int i = 0; i < size; ++i)
        if (reflection.GetRepeatedInt32(*place.message, place.field, i) != 0) return false;
      return true;
    }
    if (place.field->has_presence()) return !reflection.HasField(*place.message, place.field);
    if (spec && spec->required) return false;
    switch (place.field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT64:
        return reflection.GetInt64(*place.message, place.field) <= field.silent;
      case FieldDescriptor::CPPTYPE_INT32:
        return reflection.GetInt32(*place.message, place.field) <= field.silent;
      case FieldDescriptor::CPPTYPE_BOOL:
        return !field.is_always_said && !reflection.GetBool(*place.message, place.field);
      case FieldDescriptor::CPPTYPE_STRING:
        return reflection.GetString(*place.message, place.field).empty();
      default:
        return false;
    }
  }

  std::string word(int64_t number, const ProtoField& field) {
    if (number >= 0 && number < static_cast<int64_t>(field.words.size()))
      return std::string(field.words[static_cast<size_t>(number)]);
    problem(fmt::format("{} of {}", number, field.path));
    return {};
  }

  void write_field(const pb::Instruction& instruction, const ProtoField& field, const OpDef& def) {
    const Place place = follow(instruction, field.path);
    seen_.insert(instruction.GetDescriptor()
                     ->FindFieldByName(std::string(field.path.substr(0, field.path.find('.'))))
                     ->number());
    const AttrSpec* spec = internal::find_spec(def, field.key);
    const AttrSyntax syntax = spec ? spec->syntax : AttrSyntax::kBools;
    const Reflection& reflection = *place.message->GetReflection();
    if (syntax == AttrSyntax::kInts1 && reflection.FieldSize(*place.message, place.field) == 0) return;
    if (is_silent(place, field, spec) || says_nothing_new(instruction, field.key)) return;
    key(field.key);
    if (place.field->is_repeated()) {
      const int size = reflection.FieldSize(*place.message, place.field);
      const bool alone = syntax == AttrSyntax::kInt;
      if (alone && size != 1)
        return problem(fmt::format("{} numbers in {} of {}", size, field.path, shown(instruction.name())));
      if (!alone) out_ += '{';
      for (int i = 0; i < size; ++i) {
        if (i) out_ += ',';
        if (place.field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL)
          out_ += reflection.GetRepeatedBool(*place.message, place.field, i) ? "true" : "false";
        else if (place.field->cpp_type() == FieldDescriptor::CPPTYPE_INT32)
          out_ += word(reflection.GetRepeatedInt32(*place.message, place.field, i), field);
        else
          out_ += std::to_string(reflection.GetRepeatedInt64(*place.message, place.field, i));
      }
      if (!alone) out_ += '}';
      return;
    }
    switch (place.field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT64:
        out_ += std::to_string(reflection.GetInt64(*place.message, place.field));
        return;
      case FieldDescriptor::CPPTYPE_INT32: {
        const int32_t number = reflection.GetInt32(*place.message, place.field);
        out_ += field.words.empty() ? std::to_string(number) : word(number, field);
        return;
      }
      case FieldDescriptor::CPPTYPE_BOOL:
        out_ += reflection.GetBool(*place.message, place.field) ? "true" : "false";
        return;
      default: {
        const std::string text = reflection.GetString(*place.message, place.field);
        if (syntax != AttrSyntax::kString && !is_hlo_name(text))
          return problem(fmt::format("'{}' as {}", shown(text), field.path));
        out_ += syntax == AttrSyntax::kString ? hlosim::quoted(text) : text;
      }
    }
  }

  /// The comparison that the operands' type has anyway, and the main thread, are left out.
  bool says_nothing_new(const pb::Instruction& instruction, AttrKey attr) const {
    if (attr == AttrKey::kAsyncExecutionThread) return instruction.async_execution_thread() == "main";
    if (attr != AttrKey::kType || instruction.operand_ids_size() == 0) return false;
    const pb::Instruction* operand = find(instruction.operand_ids(0));
    if (!operand) return false;
    const ElementType type = internal::element_type_of(operand->shape().element_type());
    const std::string_view usual = is_float(type) || is_complex(type) ? "FLOAT"
                                   : is_signed_integer(type)          ? "SIGNED"
                                                                      : "UNSIGNED";
    return instruction.comparison_type() == usual;
  }

  /// The proto has the lists of a collective-permute in place as one: each buffer of the input has as many
  /// slices as the others, and each slice as many sizes as the buffer has dimensions.
  void write_slice_sizes(const pb::Instruction& instruction) {
    const int count = instruction.dynamic_slice_sizes_size();
    if (count == 0) return;
    const pb::Instruction* input =
        instruction.operand_ids_size() > 0 ? find(instruction.operand_ids(0)) : nullptr;
    std::vector<int> ranks;
    if (input && input->shape().tuple_shapes_size() == 0) ranks.push_back(input->shape().dimensions_size());
    if (input)
      for (const pb::Shape& buffer : input->shape().tuple_shapes()) ranks.push_back(buffer.dimensions_size());
    const int together = std::accumulate(ranks.begin(), ranks.end(), 0);
    if (together == 0 || count % together != 0)
      return problem(fmt::format("dynamic_slice_sizes of {}", shown(instruction.name())));
    key(AttrKey::kSliceSizes);
    int at = 0;
    for (const int rank : ranks)
      for (int slice = 0; slice < count / together; ++slice) {
        out_ += at == 0 ? "{" : ",";
        for (int i = 0; i < rank; ++i)
          out_ += fmt::format("{}{}", i == 0 ? "{" : ",", instruction.dynamic_slice_sizes(at++));
        out_ += rank == 0 ? "{}" : "}";
      }
    out_ += '}';
  }

  void write_structures(const pb::Instruction& instruction, const OpDef& def) {
    write_convolution(instruction, def);
    write_geometry(instruction, def);
    write_call_constraints(instruction, def);
    if (has(def, AttrKey::kLiteral) && instruction.has_literal()) {
      seen_.insert(P::kLiteralFieldNumber);
      key(AttrKey::kLiteral);
      out_ += values_.typed_literal_text(instruction.literal());
    }
    if (has(def, AttrKey::kResultAccuracy)) {
      const std::string accuracy = accuracy_text(instruction.result_accuracy());
      if (!accuracy.empty()) key(AttrKey::kResultAccuracy), out_ += accuracy;
    }
  }

  static bool has(const OpDef& def, AttrKey attr) { return internal::find_spec(def, attr) != nullptr; }

  void write_convolution(const pb::Instruction& instruction, const OpDef& def) {
    if (has(def, AttrKey::kWindow)) {
      seen_.insert(P::kWindowFieldNumber);
      if (instruction.has_window()) key(AttrKey::kWindow), out_ += window_text(instruction.window());
    }
    if (!has(def, AttrKey::kDimLabels)) return;
    seen_.insert(P::kConvolutionDimensionNumbersFieldNumber);
    if (!instruction.has_convolution_dimension_numbers()) return;
    key(AttrKey::kDimLabels);
    const std::string labels = dim_labels_text(instruction.convolution_dimension_numbers());
    if (labels.empty())
      problem(fmt::format("convolution_dimension_numbers of {}", shown(instruction.name())));
    out_ += labels;
  }

  void write_geometry(const pb::Instruction& instruction, const OpDef& def) {
    if (has(def, AttrKey::kSlice)) {
      seen_.insert(P::kSliceDimensionsFieldNumber);
      key(AttrKey::kSlice);
      out_ += slices_text(instruction);
    }
    if (has(def, AttrKey::kPadding)) {
      seen_.insert(P::kPaddingConfigFieldNumber);
      key(AttrKey::kPadding);
      out_ += padding_text(instruction.padding_config());
    }
    if (has(def, AttrKey::kEpsilon)) {
      seen_.insert(P::kEpsilonFieldNumber);
      key(AttrKey::kEpsilon);
      out_ += fmt::format("{}", instruction.epsilon());
    }
    if (has(def, AttrKey::kOutfeedShape)) {
      seen_.insert(P::kOutfeedShapeFieldNumber);
      if (instruction.has_outfeed_shape())
        key(AttrKey::kOutfeedShape), out_ += values_.shape_text(instruction.outfeed_shape());
    }
  }

  void write_communication(const pb::Instruction& instruction, const OpDef& def) {
    if (has(def, AttrKey::kSourceTargetPairs)) {
      seen_.insert(P::kSourceTargetPairsFieldNumber);
      key(AttrKey::kSourceTargetPairs);
      out_ += '{';
      for (int i = 0; i < instruction.source_target_pairs_size(); ++i)
        out_ += fmt::format("{}{{{},{}}}", i ? "," : "", instruction.source_target_pairs(i).source(),
                            instruction.source_target_pairs(i).target());
      out_ += '}';
    }
    if (const AttrSpec* sizes = internal::find_spec(def, AttrKey::kSliceSizes);
        sizes && sizes->syntax == AttrSyntax::kIntLists) {
      seen_.insert(P::kDynamicSliceSizesFieldNumber);
      write_slice_sizes(instruction);
    }
    if (has(def, AttrKey::kReplicaGroups)) {
      seen_.insert({P::kReplicaGroupsFieldNumber, P::kCollectiveDeviceListFieldNumber,
                    P::kIotaCollectiveDeviceListFieldNumber});
      const std::string groups = replica_groups_text(instruction);
      if (!groups.empty()) key(AttrKey::kReplicaGroups), out_ += groups;
    }
  }

  void write_call_constraints(const pb::Instruction& instruction, const OpDef& def) {
    if (has(def, AttrKey::kOperandLayoutConstraints)) {
      seen_.insert({P::kConstrainLayoutFieldNumber, P::kOperandShapesWithLayoutFieldNumber});
      if (instruction.constrain_layout()) {
        key(AttrKey::kOperandLayoutConstraints);
        out_ += '{';
        for (int i = 0; i < instruction.operand_shapes_with_layout_size(); ++i)
          out_ += (i ? ", " : "") + values_.shape_text(instruction.operand_shapes_with_layout(i));
        out_ += '}';
      }
    }
    if (!has(def, AttrKey::kOutputToOperandAliasing)) return;
    seen_.insert(P::kOutputOperandAliasingFieldNumber);
    if (instruction.output_operand_aliasing_size() == 0) return;
    key(AttrKey::kOutputToOperandAliasing);
    out_ += "{ ";
    for (int i = 0; i < instruction.output_operand_aliasing_size(); ++i) {
      const pb::OutputOperandAliasing& alias = instruction.output_operand_aliasing(i);
      out_ += fmt::format("{}{}: ({}, {})", i ? ", " : "", int_list(alias.output_shape_index()),
                          alias.operand_index(), int_list(alias.operand_shape_index()));
    }
    out_ += " }";
  }

  void write_called(const pb::Instruction& instruction, const OpDef& def) {
    const auto& ids = instruction.called_computation_ids();
    seen_.insert(P::kCalledComputationIdsFieldNumber);
    if (ids.empty()) return;
    int next = 0;
    const auto name = [&](int at) {
      const auto known = computation_names_.find(ids[at]);
      if (known == computation_names_.end())
        return problem(fmt::format("called_computation_ids {} of {}", ids[at], shown(instruction.name()))),
               std::string();
      return "%" + known->second;
    };
    // Those that name one each; a list takes all, where there are not just the two of a predicate.
    const pb::Instruction* first =
        instruction.operand_ids_size() > 0 ? find(instruction.operand_ids(0)) : nullptr;
    const bool by_predicate =
        first && internal::element_type_of(first->shape().element_type()) == ElementType::kPred;
    for (const AttrKey attr : internal::calling_attributes()) {
      const AttrSpec* spec = internal::find_spec(def, attr);
      if (!spec || next >= ids.size()) continue;
      const bool list = spec->syntax == AttrSyntax::kComputations;
      const bool has_list = internal::find_spec(def, AttrKey::kBranchComputations) ||
                            internal::find_spec(def, AttrKey::kCalledComputations);
      if (!list && has_list &&
          !(by_predicate && ids.size() == 2 && internal::find_spec(def, AttrKey::kTrueComputation)))
        continue;
      key(attr);
      if (!list) {
        out_ += name(next++);
        continue;
      }
      out_ += '{';
      for (int start = next; next < ids.size(); ++next) out_ += (next > start ? ", " : "") + name(next);
      out_ += '}';
    }
    if (next != ids.size())
      problem(fmt::format("called_computation_ids of {}, {} of {}", shown(instruction.name()), ids.size(),
                          def.name));
  }

  void write_common(const pb::Instruction& instruction) {
    seen_.insert({P::kMetadataFieldNumber, P::kControlPredecessorIdsFieldNumber, P::kShardingFieldNumber,
                  P::kBackendConfigFieldNumber, P::kFrontendAttributesFieldNumber});
    if (instruction.has_sharding()) {
      const std::string text = sharding_text(instruction.sharding());
      if (text.empty()) problem(fmt::format("sharding of {}", shown(instruction.name())));
      key(AttrKey::kSharding), out_ += text;
    }
    check_keys(instruction.frontend_attributes());
    if (instruction.frontend_attributes().map_size() > 0)
      key(AttrKey::kFrontendAttributes), out_ += frontend_text(instruction.frontend_attributes());
    if (instruction.control_predecessor_ids_size() > 0) {
      key(AttrKey::kControlPredecessors);
      out_ += '{';
      for (int i = 0; i < instruction.control_predecessor_ids_size(); ++i) {
        const pb::Instruction* before = find(instruction.control_predecessor_ids(i));
        if (!before) return problem(fmt::format("control_predecessor_ids of {}", shown(instruction.name())));
        out_ += (i ? ", %" : "%") + before->name();
      }
      out_ += '}';
    }
    if (instruction.has_metadata()) {
      const std::string text = metadata_text(instruction.metadata());
      if (text != "{}") key(AttrKey::kMetadata), out_ += text;
    }
    if (!instruction.backend_config().empty())
      key(AttrKey::kBackendConfig), out_ += config_text(instruction.backend_config());
  }

  /// Fields that are set and that the opcode has no attribute for.
  void look_for_rest(const pb::Instruction& instruction) {
    // all_reduce_id, is_cross_program_prefetch: replaced by others; statistics_viz, original_value: of
    // debuggers.
    seen_.insert({P::kAllReduceIdFieldNumber, P::kIsCrossProgramPrefetchFieldNumber,
                  P::kStatisticsVizFieldNumber, P::kOriginalValueFieldNumber, P::kResultAccuracyFieldNumber});
    std::vector<const FieldDescriptor*> fields;
    instruction.GetReflection()->ListFields(instruction, &fields);
    for (const FieldDescriptor* field : fields) {
      if (seen_.count(field->number())) continue;
      const std::string& name = field->name();
      const bool usual = (name == "feature_group_count" && instruction.feature_group_count() == 1) ||
                         (name == "batch_group_count" && instruction.batch_group_count() == 1) ||
                         (name == "custom_call_api_version" && instruction.custom_call_api_version() == 1) ||
                         name == "precision_config" || name == "async_execution_thread";
      if (!usual)
        problem(fmt::format("{} of {}, which {} has no attribute for", name, shown(instruction.name()),
                            instruction.opcode()));
    }
  }

  const pb::Module& module_;
  Module scratch_;
  ProtoValues values_;
  std::string out_, problem_;
  std::set<int> seen_;
  std::unordered_map<int64_t, const pb::InstructionSequence*> sequences_;
  std::unordered_map<int64_t, std::string> computation_names_;
  std::unordered_map<int64_t, const pb::Instruction*> by_id_;
};

}  // namespace

std::string hlo_text(const pb::Module& module, std::string& problem) {
  TextWriter writer(module);
  std::string text = writer.write();
  problem = writer.problem_found();
  return text;
}

}  // namespace hlosim
