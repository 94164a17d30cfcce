#include "hlo/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/saturating.h"
#include "base/text.h"
#include "hlo/graph.h"
#include "hlo/replica_groups.h"
#include "hlo/sharding.h"
#include "layout/shape_text.h"
#include "layout/sizes.h"

namespace hlosim {
namespace {

class Verifier {
 public:
  Verifier(Module& module, const OpTable& table, DiagnosticList& diagnostics, const Limits& limits)
      : module_(module),
        table_(table),
        diagnostics_(diagnostics),
        limits_(limits),
        position_(module.instructions.size(), -1) {}

  void run() {
    if (!device_counts() || !nesting()) return;
    header();
    for (size_t c = 0; c < module_.computations.size() && !diagnostics_.full(); ++c)
      computation(ComputationId{static_cast<int32_t>(c)});
  }

 private:
  template <class... Args>
  void error(uint32_t offset, fmt::format_string<Args...> format, Args&&... args) {
    report(offset, fmt::format(format, std::forward<Args>(args)...), "");
  }
  void report(uint32_t offset, std::string message, std::string hint) {
    Diagnostic diagnostic;
    diagnostic.message = std::move(message);
    diagnostic.hint = std::move(hint);
    diagnostic.source = module_.source;
    diagnostic.offset = offset;
    diagnostics_.add(std::move(diagnostic));
  }

  /// False: the program is for too many devices to look at anything else.
  bool device_counts() {
    int64_t devices = 1;
    for (const AttrKey key : {AttrKey::kReplicaCount, AttrKey::kNumPartitions}) {
      const Attr* attr = module_.find(key);
      if (!attr) continue;
      if (attr->integer() < 1)
        error(attr->offset, "{} must be at least 1, but is {}", to_text(key), attr->integer());
      if (key == AttrKey::kNumPartitions) partitions_ = attr->integer();
      devices = saturating_multiply(devices, std::max<int64_t>(attr->integer(), 1));
      if (!devices_fit(attr->offset, fmt::format("{}: the program is for", to_text(key)), devices))
        return false;
    }
    return true;
  }

  bool devices_fit(uint32_t offset, std::string_view what, int64_t devices) {
    if (devices <= limits_.devices) return true;
    report(offset, fmt::format("{} {} devices, more than {}", what, devices, limits_.devices),
           "--max-devices=N takes programs for up to N");
    return false;
  }

  /// False: computations call each other so deeply that what follows them by its own calls would run out of
  /// stack.
  bool nesting() {
    IdMap<ComputationId, int32_t> levels(module_.computations.size(), 1);
    for (const ComputationId id : callees_first(module_))
      for (const InstructionId at : module_[id].instructions) {
        int32_t inner = 0;
        for_each_called(module_[at], [&](ComputationId called) { inner = std::max(inner, levels[called]); });
        levels[id] = std::max(levels[id], inner + 1);
        if (levels[id] <= kMostNested) continue;
        error(module_[at].opcode_offset, "{} computations deep in each other, more than {}", levels[id],
              kMostNested);
        return false;
      }
    return true;
  }

  void header() {
    const Computation& entry = module_.entry_computation();
    const ShapeRef result = module_[entry.root].shape;
    if (const Attr* attr = module_.find(AttrKey::kEntryComputationLayout)) entry_layout(entry, *attr);
    for (const AttrKey key : {AttrKey::kInputOutputAlias, AttrKey::kBufferDonor}) {
      const Attr* attr = module_.find(key);
      if (attr) aliases(entry, *attr, result);
    }
    if (const Attr* attr = module_.find(AttrKey::kInputOutputAlias); attr && !diagnostics_.has_errors())
      aliased_once(*attr), aliased_alike(entry, *attr, result);
  }

  void entry_layout(const Computation& entry, const Attr& attr) {
    const auto shapes = attr.shapes();
    if (shapes.size() != entry.parameters.size() + 1) {
      error(attr.offset, "entry_computation_layout has {} parameters, but the entry computation has {}",
            shapes.size() - 1, entry.parameters.size());
      return;
    }
    for (size_t i = 0; i < entry.parameters.size(); ++i)
      if (!compatible(shapes[i], module_[entry.parameters[i]].shape))
        error(
            attr.offset,
            "shape of entry parameter {}, {}, is not compatible with the one in entry_computation_layout, {}",
            i, to_text_without_layout(module_[entry.parameters[i]].shape), to_text_without_layout(shapes[i]));
    for (const ShapeRef shape : shapes)
      if (const auto problem = validate_layout(shape))
        error(attr.offset, "entry_computation_layout: {}", problem->message);
    if (!compatible(shapes.back(), module_[entry.root].shape))
      error(attr.offset,
            "shape of the entry's root, {}, is not compatible with the one in entry_computation_layout, {}",
            to_text_without_layout(module_[entry.root].shape), to_text_without_layout(shapes.back()));
  }

  void aliases(const Computation& entry, const Attr& attr, ShapeRef result) {
    for (const Alias& alias : attr.aliases()) {
      const size_t number = static_cast<size_t>(alias.parameter);
      if (alias.parameter < 0 || number >= entry.parameters.size()) {
        error(attr.offset, "{} names parameter {}, but the entry computation has {}", to_text(attr.key),
              alias.parameter, entry.parameters.size());
        continue;
      }
      const ShapeRef parameter = subshape(module_[entry.parameters[number]].shape, alias.parameter_index);
      if (!parameter)
        error(attr.offset, "{} names {{{}}} of parameter {}, which has no such index", to_text(attr.key),
              fmt::join(alias.parameter_index, ","), alias.parameter);
      else if (attr.key == AttrKey::kBufferDonor && !parameter->is_array())
        error(attr.offset, "buffer_donor names {{{}}} of parameter {}, {}, expected an array",
              fmt::join(alias.parameter_index, ","), alias.parameter, to_text_without_layout(parameter));
      if (attr.key == AttrKey::kInputOutputAlias && !subshape(result, alias.output_index))
        error(attr.offset, "input_output_alias names output {{{}}}, which does not exist",
              fmt::join(alias.output_index, ","));
    }
  }

  /// Each output and each part of a parameter stands in one alias, and no donated buffer in any.
  void aliased_once(const Attr& attr) {
    using Index = std::vector<int64_t>;
    std::set<Index> outputs;
    std::set<std::pair<int64_t, Index>> inputs;
    const auto input_of = [](const Alias& alias) {
      return std::pair(alias.parameter, Index(alias.parameter_index.begin(), alias.parameter_index.end()));
    };
    for (const Alias& alias : attr.aliases()) {
      if (!outputs.insert(Index(alias.output_index.begin(), alias.output_index.end())).second)
        error(attr.offset, "input_output_alias names output {{{}}} more than once",
              fmt::join(alias.output_index, ","));
      if (!inputs.insert(input_of(alias)).second)
        error(attr.offset, "input_output_alias names {{{}}} of parameter {} more than once",
              fmt::join(alias.parameter_index, ","), alias.parameter);
    }
    const Attr* donors = module_.find(AttrKey::kBufferDonor);
    if (!donors) return;
    for (const Alias& donor : donors->aliases())
      if (inputs.contains(input_of(donor)))
        error(donors->offset, "buffer_donor names {{{}}} of parameter {}, which input_output_alias has, too",
              fmt::join(donor.parameter_index, ","), donor.parameter);
  }

  /// Aliases join arrays. What has to alias has one shape, memory space and all else of the layout included:
  /// that of entry_computation_layout where there is one.
  void aliased_alike(const Computation& entry, const Attr& attr, ShapeRef result) {
    const Attr* given = module_.find(AttrKey::kEntryComputationLayout);
    if (given) result = given->shapes().back();
    for (const Alias& alias : attr.aliases()) {
      const auto number = static_cast<size_t>(alias.parameter);
      const ShapeRef parameter = given ? given->shapes()[number] : module_[entry.parameters[number]].shape;
      const ShapeRef from = with_layout(subshape(parameter, alias.parameter_index));
      const ShapeRef to = with_layout(subshape(result, alias.output_index));
      if (!from->is_array() || !to->is_array())
        error(attr.offset, "input_output_alias joins {} and {}, expected arrays", to_text(from), to_text(to));
      else if (alias.must_alias && from != to)
        error(attr.offset,
              "input_output_alias has to join parameter {}, {}, and output {{{}}}, {}: they differ",
              alias.parameter, to_text(from), fmt::join(alias.output_index, ","), to_text(to));
    }
  }
  ShapeRef with_layout(ShapeRef shape) { return module_.shapes().with_default_layouts(shape); }

  void computation(ComputationId id) {
    const Computation& computation = module_[id];
    bool root_seen = false;
    int32_t position = 0;
    for (const InstructionId i : computation.instructions) {
      const Instruction& instruction = module_[i];
      for (const InstructionId operand : instruction.operands)
        if (position_[operand] < 0 || module_[operand].parent != id)
          error(instruction.offset, "{} uses {}, which is not defined before it in its computation",
                instruction.name, module_[operand].name);
      if (const Attr* control = instruction.find(AttrKey::kControlPredecessors))
        for (const InstructionId before : control->instructions())
          if (position_[before] < 0 || module_[before].parent != id)
            error(control->offset, "control predecessor {} of {} is not before it", module_[before].name,
                  instruction.name);
      position_[i] = position++;
      root_seen |= i == computation.root;
      this->instruction(instruction);
      if (diagnostics_.full()) return;
    }
    if (!root_seen)
      error(computation.offset, "the root of computation {} is not one of its instructions",
            computation.name);
  }

  void instruction(const Instruction& instruction) {
    shape(instruction);
    if (const Attr* attr = instruction.find(AttrKey::kSharding))
      if (const std::string misfit = sharding_misfit(attr->text(), instruction.shape, partitions_);
          !misfit.empty())
        error(attr->offset, "{}: sharding of {}: {}", to_text(instruction.opcode), instruction.name, misfit);
    if (const Attr* attr = instruction.find(AttrKey::kReplicaGroups)) {
      const Result<ReplicaGroupCounts> counts = count_replica_groups(attr->replica_groups());
      const std::string what = fmt::format("{}: replica_groups of", to_text(instruction.opcode));
      if (counts && !devices_fit(attr->offset, what, counts->total)) return;
    }
    const OpDef& def = table_[instruction.opcode];
    OpContext op(module_, instruction, table_, &diagnostics_);
    const int64_t count = op.operand_count();
    if (count < def.arity.min || (def.arity.max >= 0 && count > def.arity.max)) {
      op.error(0, "expects {} operands, but has {}", def.arity.min, count);
      return;
    }
    const bool is_tuple = def.rules.value == ValueRule::kTuple;  // a rule of modules/module_rules.cc
    if (def.infer_shape && instruction.has_declared_shape && !is_tuple) {
      const ShapeRef inferred = def.infer_shape(op);
      if (inferred &&
          !(def.has(kExactTypes) ? compatible(inferred, instruction.shape)
                                 : compatible_up_to_float_precision(inferred, instruction.shape))) {
        op.error(0, "expected instruction to have shape equal to {}, actual shape is {}",
                 to_text_without_layout(inferred), to_text_without_layout(instruction.shape));
        return;
      }
    }
    if (def.check && !op.failed()) def.check(op);
  }

  void shape(const Instruction& instruction) {
    if (instruction.shape == last_checked_ || !checked_.insert(instruction.shape).second) return;
    last_checked_ = instruction.shape;
    const std::string_view opcode = to_text(instruction.opcode);
    if (instruction.shape->is_unbounded())
      error(instruction.opcode_offset, "{}: unbounded dimension in {}, expected a size or a bound as in <=8",
            opcode, to_text_without_layout(instruction.shape));
    if (const auto problem = validate_layout(instruction.shape)) {
      error(instruction.opcode_offset, "{}: {}", opcode, problem->message);
      return;
    }
    for_each_leaf(instruction.shape, [&](ShapeRef leaf) {
      if (leaf->is_buffer()) leaf = leaf->elements[0];
      if (!leaf->is_array() || !checked_leaves_.insert(leaf).second) return;
      if (leaf->rank() > limits_.rank)
        report(instruction.opcode_offset, fmt::format("{}: {}", opcode, too_many_dimensions(limits_.rank)),
               kMoreDimensions);
      else if (array_size(leaf) == kTooLarge)
        error(instruction.opcode_offset, "{}: {} takes more than 2^63 - 1 bytes", opcode, to_text(leaf));
    });
  }

  Module& module_;
  const OpTable& table_;
  DiagnosticList& diagnostics_;
  const Limits& limits_;
  int64_t partitions_ = 1;  // num_partitions
  IdMap<InstructionId, int32_t> position_;
  std::unordered_set<ShapeRef> checked_, checked_leaves_;
  ShapeRef last_checked_ = nullptr;
};

}  // namespace

bool verify(Module& module, const OpTable& table, DiagnosticList& diagnostics, const Limits& limits) {
  const size_t before = diagnostics.error_count();
  Verifier(module, table, diagnostics, limits).run();
  return diagnostics.error_count() == before;
}

}  // namespace hlosim
