#include "stablehlo_text/write_stablehlo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "base/text.h"
#include "stablehlo_text/stable_writer.h"

namespace hlosim {
namespace {

/// Arrays, tokens and tuples of them; no buffers.
bool has_type(ShapeRef shape) {
  if (shape->is_tuple()) return std::all_of(shape->elements.begin(), shape->elements.end(), has_type);
  return shape->is_array() || shape->is_token();
}

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string mlir_symbol(std::string_view text) {
  bool bare = !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) != 0 || text[0] == '_');
  for (const char c : text)
    bare = bare && (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$');
  return "@" + (bare ? std::string(text) : mlir_string(text));
}

std::string mlir_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c < ' ' || c > '~' || c == '"' || c == '\\')
      out += fmt::format("\\{:02X}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + '"';
}

/// A truth value is a bit in StableHLO, in HLO a byte.
bool StableWriter::is_bits_of_truth(const Instruction& instruction) const {
  return is_pred(instruction.shape->element_type) != is_pred(operand(instruction, 0).shape->element_type);
}

bool StableWriter::refuse(const Instruction& instruction, std::string_view why) {
  if (refusal_) return false;
  refusal_.emplace();
  refusal_->message = fmt::format("{}: {}", shown(instruction.name), why);
  refusal_->source = module_.source;
  refusal_->offset = instruction.offset;
  return false;
}

/// The operands of a tuple, or the parts of a value that has several.
std::vector<std::string> StableWriter::leaves(const Instruction& instruction, int indent) {
  const Names& names =
      names_[module_[instruction.parent].instructions.empty()
                 ? InstructionId()
                 : InstructionId{static_cast<int32_t>(&instruction - &*module_.instructions.begin())}];
  if (names.is_pack || !instruction.shape->is_tuple()) return names.values;
  std::vector<std::string> parts;
  for (size_t i = 0; i < instruction.shape->elements.size(); ++i) {
    parts.push_back(fresh());
    emit_line({{parts.back()}, false}, "stablehlo.get_tuple_element", names.values, {instruction.shape},
              {instruction.shape->elements[i]}, fmt::format("index = {} : i32", i), "", indent);
  }
  return parts;
}

/// One name for the instruction; a pack is made a tuple for it.
std::string StableWriter::value(const Instruction& instruction, int indent) {
  const InstructionId id = id_of(instruction);
  Names& names = names_[id];
  if (!names.is_pack) return names.values.at(0);
  const std::string made = fresh();
  emit_line({{made}, false}, "stablehlo.tuple", names.values,
            {instruction.shape->elements.begin(), instruction.shape->elements.end()}, {instruction.shape}, "",
            "", indent);
  return made;
}

/// `stablehlo.add %0, %1 {…} : T`, with the types of all operands where they aren't the result's.
void StableWriter::emit_pretty(const Names& results, std::string_view name,
                               const std::vector<std::string>& operands,
                               const std::vector<ShapeRef>& operand_shapes,
                               const std::vector<ShapeRef>& result_shapes, const std::string& attributes,
                               int indent) {
  std::vector<std::string> types;
  for (const ShapeRef shape : operand_shapes) types.push_back(type(shape));
  out_ += fmt::format("{:{}}", "", indent);
  if (!results.values.empty()) out_ += joined(results.values) + " = ";
  out_ += name;
  if (!operands.empty()) out_ += " " + joined(operands);
  if (!attributes.empty()) out_ += fmt::format(" {{{}}}", attributes);
  if (result_shapes.empty()) {
    if (!operands.empty()) out_ += " : " + joined(types);
  } else if (const std::string result = type(result_shapes[0]);
             form_ == StableForm::kPlain &&
             std::count(types.begin(), types.end(), result) == static_cast<int64_t>(types.size())) {
    out_ += " : " + result;
  } else {
    out_ += fmt::format(" : ({}) -> {}", joined(types), result);
  }
  out_ += '\n';
}

void StableWriter::emit_line(const Names& results, std::string_view name,
                             const std::vector<std::string>& operands,
                             const std::vector<ShapeRef>& operand_shapes,
                             const std::vector<ShapeRef>& result_shapes, const std::string& properties,
                             const std::string& regions, int indent) {
  const std::string_view dialect = name.substr(0, name.find('.'));
  const bool is_return = name.ends_with(".return");
  const bool is_plain =
      form_ == StableForm::kPlain || form_ == StableForm::kOperands || form_ == StableForm::kBits;
  if (is_return || (is_plain && regions.empty() && dialect == "stablehlo" && result_shapes.size() == 1))
    return emit_pretty(results, is_return && dialect == "func" ? "return" : name, operands, operand_shapes,
                       result_shapes, properties, indent);
  std::vector<std::string> operand_types, result_types;
  for (const ShapeRef shape : operand_shapes) operand_types.push_back(type(shape));
  for (const ShapeRef shape : result_shapes) result_types.push_back(type(shape));
  out_ += fmt::format("{:{}}", "", indent);
  if (!results.values.empty()) out_ += joined(results.values) + " = ";
  out_ += fmt::format("\"{}\"({})", name, joined(operands));
  if (!properties.empty()) out_ += fmt::format(" <{{{}}}>", properties);
  if (!regions.empty()) out_ += fmt::format(" ({})", regions);
  out_ += fmt::format(" : ({}) -> ", joined(operand_types));
  out_ += result_types.size() == 1 ? result_types[0] : fmt::format("({})", joined(result_types));
  out_ += '\n';
}

/// The instruction with its operands as single values; a tuple of results is a pack.
void StableWriter::emit(const Instruction& instruction, std::string_view name, const std::string& properties,
                        const std::string& regions, int indent, StableForm form) {
  std::vector<std::string> operands;
  std::vector<ShapeRef> operand_shapes, result_shapes;
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    operands.push_back(value(operand(instruction, i), indent));
    operand_shapes.push_back(operand(instruction, i).shape);
  }
  const InstructionId id = id_of(instruction);
  Names& names = names_[id];
  names = {{}, instruction.shape->is_tuple()};
  if (names.is_pack)
    result_shapes.assign(instruction.shape->elements.begin(), instruction.shape->elements.end());
  else
    result_shapes = {instruction.shape};
  for (size_t i = 0; i < result_shapes.size(); ++i) names.values.push_back(fresh());
  form_ = form;
  emit_line(names, name, operands, operand_shapes, result_shapes, discardable(instruction, properties),
            regions, indent);
  form_ = StableForm::kCall;
}

// ── computations ──

void StableWriter::bind(ComputationId id, const std::vector<Names>& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) names_[module_[id].parameters[i]] = arguments[i];
}

bool StableWriter::computation(ComputationId id, int indent) {
  for (const InstructionId each : module_[id].instructions)
    if (!instruction(module_[each], indent)) return false;
  return true;
}

void StableWriter::finish_region(ComputationId id, std::string_view end, int indent) {
  const Instruction& root = module_.root(id);
  const std::vector<std::string> results = leaves(root, indent);
  std::vector<ShapeRef> shapes = {root.shape};
  if (root.shape->is_tuple()) shapes.assign(root.shape->elements.begin(), root.shape->elements.end());
  emit_line({}, end, results, shapes, {}, "", "", indent);
}

/// A region with an argument for each parameter.
std::string StableWriter::region(ComputationId id, int indent) {
  std::string outer = std::move(out_);
  std::vector<Names> arguments;
  std::vector<std::string> typed;
  for (const InstructionId parameter : module_[id].parameters) {
    arguments.push_back({{fresh()}, false});
    typed.push_back(fmt::format("{}: {}", arguments.back().values[0], type(module_[parameter].shape)));
  }
  out_ = fmt::format("{{\n{:{}}^bb0({}):\n", "", indent, joined(typed));
  bind(id, arguments);
  if (computation(id, indent + 2)) finish_region(id, "stablehlo.return", indent + 2);
  out_ += fmt::format("{:{}}}}", "", indent);
  std::swap(outer, out_);
  return outer;
}

/// A region with an argument for each part of its one parameter.
std::string StableWriter::region_of_state(ComputationId id, int indent) {
  const ShapeRef state = module_[module_[id].parameters[0]].shape;
  if (!state->is_tuple()) return region(id, indent);
  std::string outer = std::move(out_);
  Names parts{{}, true};
  std::vector<std::string> typed;
  for (const ShapeRef part : state->elements) {
    parts.values.push_back(fresh());
    typed.push_back(fmt::format("{}: {}", parts.values.back(), type(part)));
  }
  out_ = fmt::format("{{\n{:{}}^bb0({}):\n", "", indent, joined(typed));
  if (typed.empty()) out_ = "{\n";
  bind(id, {parts});
  if (computation(id, indent + 2)) finish_region(id, "stablehlo.return", indent + 2);
  out_ += fmt::format("{:{}}}}", "", indent);
  std::swap(outer, out_);
  return outer;
}

/// A region without arguments: what it takes is seen from it.
std::string StableWriter::branch(ComputationId id, const Names& argument, int indent) {
  std::string outer = std::move(out_);
  out_ = "{\n";
  if (!module_[id].parameters.empty()) bind(id, {argument});
  if (computation(id, indent + 2)) finish_region(id, "stablehlo.return", indent + 2);
  out_ += fmt::format("{:{}}}}", "", indent);
  std::swap(outer, out_);
  return outer;
}

bool StableWriter::function(ComputationId id, std::string_view name, bool is_public) {
  const Computation& computation = module_[id];
  values_ = 0;
  std::vector<std::string> parameters, results;
  std::vector<Names> arguments;
  for (const InstructionId each : computation.parameters) {
    const Instruction& parameter = module_[each];
    arguments.push_back({{fmt::format("%arg{}", arguments.size())}, false});
    parameters.push_back(fmt::format("{}: {}", arguments.back().values[0], type(parameter.shape)));
    if (const Attr* sharding = parameter.find(AttrKey::kSharding))
      parameters.back() += fmt::format(" {{mhlo.sharding = {}}}", mlir_string(sharding->text()));
  }
  const Instruction& root = module_.root(id);
  // A program of one result gives that result, and this is a tuple here.
  const bool is_one_tuple = is_public && root.shape->is_tuple() && root.shape->elements.size() == 1;
  if (root.shape->is_tuple() && !is_one_tuple)
    for (const ShapeRef part : root.shape->elements) results.push_back(type(part));
  else
    results.push_back(type(root.shape));
  out_ += fmt::format("  func.func {} {}({}) -> ({}) {{\n", is_public ? "public" : "private",
                      mlir_symbol(name), joined(parameters), joined(results));
  bind(id, arguments);
  if (!this->computation(id, 4)) return false;
  if (is_one_tuple)
    emit_line({}, "func.return", {value(root, 4)}, {root.shape}, {}, "", "", 4);
  else
    finish_region(id, "func.return", 4);
  out_ += "  }\n";
  return !refusal_;
}

Result<std::string> StableWriter::write() {
  out_ = fmt::format(
      "module {} attributes {{mhlo.num_partitions = {} : i32, mhlo.num_replicas = {} : i32}} {{\n",
      mlir_symbol(module_.name), module_.num_partitions(), module_.replica_count());
  bool written = function(module_.entry, "main", true);
  for (size_t i = 0; written && i < functions_.size(); ++i)
    written = function(functions_[i], std::string(symbol(functions_[i])), false);
  if (refusal_) return tl::unexpected<Diagnostic>(*refusal_);
  return out_ + "}\n";
}

// ── instructions ──

bool StableWriter::instruction(const Instruction& instruction, int indent) {
  // Regions stand where they are used: shared computations of shared computations multiply.
  constexpr size_t kMostOperations = 5'000'000;
  if (++operations_ > kMostOperations)
    return refuse(instruction,
                  fmt::format("this module has more than {} operations as StableHLO", kMostOperations));
  const bool is_parameter = instruction.parameter_number >= 0;
  const mlir::StableOperation* operation = mlir::stable_operation(instruction.opcode);
  if (operation == nullptr && !is_parameter)
    return refuse(instruction, fmt::format("StableHLO has no form of {}", to_text(instruction.opcode)));
  if (!has_type(instruction.shape)) return refuse(instruction, "StableHLO has no type of its shape");
  if (is_parameter) return true;
  const StableForm form = operation->form;
  if (form == StableForm::kConditional || form == StableForm::kWhile || form == StableForm::kCall ||
      form == StableForm::kTuple || form == StableForm::kElement || form == StableForm::kBarrier)
    return control(instruction, form, indent);
  if (form == StableForm::kRng) return random(instruction, indent);
  if (form == StableForm::kPermute && instruction.operands.size() != 1)
    return refuse(instruction, "StableHLO has no form of a permutation of several arrays");
  if (form == StableForm::kConvolution && instruction.operands.size() != 2)
    return refuse(instruction, "StableHLO has no form of a convolution of sparse operands");
  if (const Attr* channel = instruction.find(AttrKey::kChannelId); channel && channel->integer() == 0)
    return refuse(instruction, "StableHLO has no form of channel_id=0, which means none there");
  if (form == StableForm::kBits && is_bits_of_truth(instruction))
    return refuse(instruction, "StableHLO has no form of truth values as bytes");
  const Attr* target = instruction.find(AttrKey::kCustomCallTarget);
  if (form == StableForm::kCustomCall && target->text().starts_with("\"check.expect_"))
    return check(instruction, indent);
  const std::optional<std::string> properties = this->properties(instruction, form);
  if (!properties) return refuse(instruction, "StableHLO has no form of its attributes");
  std::string regions;
  const AttrKey keys[] = {AttrKey::kToApply, AttrKey::kSelect, AttrKey::kScatter};
  for (const AttrKey key : keys) {
    const Attr* called = instruction.find(key);
    if (called == nullptr || form == StableForm::kTopK) continue;
    if (!regions.empty()) regions += ", ";
    regions += region(called->computations()[0], indent + 2);
  }
  if (refusal_) return false;
  if (form == StableForm::kConstant && discardable(instruction, "").empty()) {
    const Names made{{fresh()}, false};
    names_[id_of(instruction)] = made;
    out_ += fmt::format("{:{}}{} = stablehlo.constant {}\n", "", indent, made.values[0],
                        properties->substr(std::string_view("value = ").size()));
    return true;
  }
  emit(instruction, operation->name, *properties, regions, indent, form);
  return true;
}

bool StableWriter::element(const Instruction& instruction, int indent) {
  const InstructionId id = id_of(instruction);
  const int64_t index = instruction.find(AttrKey::kIndex)->integer();
  const Names& of = names_[instruction.operands[0]];
  if (of.is_pack) {
    names_[id] = {{of.values.at(static_cast<size_t>(index))}, false};
    return true;
  }
  const Names made{{fresh()}, false};
  emit_line(made, "stablehlo.get_tuple_element", of.values, {operand(instruction, 0).shape},
            {instruction.shape}, fmt::format("index = {} : i32", index), "", indent);
  names_[id] = made;
  return true;
}

bool StableWriter::control(const Instruction& instruction, StableForm form, int indent) {
  const InstructionId id = id_of(instruction);
  if (form == StableForm::kElement) return element(instruction, indent);
  if (form == StableForm::kWhile) return loop(instruction, indent);
  if (form == StableForm::kConditional) return conditional(instruction, indent);
  if (form == StableForm::kTuple) {
    Names parts{{}, true};
    for (size_t i = 0; i < instruction.operands.size(); ++i)
      parts.values.push_back(value(operand(instruction, i), indent));
    names_[id] = parts;
    return true;
  }
  if (form == StableForm::kBarrier) {
    const ShapeRef shape = instruction.shape;
    Names results{{}, shape->is_tuple()};
    std::vector<ShapeRef> shapes = {shape};
    if (shape->is_tuple()) shapes.assign(shape->elements.begin(), shape->elements.end());
    const std::vector<std::string> operands = leaves(operand(instruction, 0), indent);
    for (size_t i = 0; i < shapes.size(); ++i) results.values.push_back(fresh());
    emit_line(results, "stablehlo.optimization_barrier", operands, shapes, shapes,
              discardable(instruction, ""), "", indent);
    names_[id] = results;
    return true;
  }
  return call(instruction, indent);
}

/// The computation's name without the number that made it unique, if nothing else is called so: who reads it
/// puts one there.
const std::string& StableWriter::symbol(ComputationId callee) {
  std::string& known = symbols_[callee];
  if (!known.empty()) return known;
  functions_.push_back(callee);
  const std::string_view name = module_[callee].name;
  const size_t dot = name.rfind('.');
  const bool numbered = dot != std::string_view::npos && dot > 0 && dot + 1 < name.size() &&
                        name.find_first_not_of("0123456789", dot + 1) == std::string_view::npos;
  known = numbered ? name.substr(0, dot) : name;
  for (int i = 0; !taken_.insert(known).second; ++i) known = fmt::format("{}_{}", name, i);
  return known;
}

bool StableWriter::call(const Instruction& instruction, int indent) {
  const ComputationId callee = instruction.find(AttrKey::kToApply)->computations()[0];
  const std::string symbol = mlir_symbol(this->symbol(callee));
  const Attr* composite = instruction.find(AttrKey::kIsComposite);
  if (composite == nullptr || !composite->flag()) {
    emit(instruction, "func.call", fmt::format("callee = {}", symbol), "", indent);
    return true;
  }
  std::map<std::string, std::string> given = frontend_attributes(instruction);
  const auto get = [&](const char* key, const char* otherwise) {
    const auto found = given.find(key);
    return found == given.end() || found->second.empty() ? std::string(otherwise) : found->second;
  };
  emit(instruction, "stablehlo.composite",
       fmt::format("name = {}, composite_attributes = {}, decomposition = {}, version = {} : i32",
                   mlir_string(get("composite.name", "")), get("composite.attributes", "{}"), symbol,
                   get("composite.version", "0")),
       "", indent);
  return true;
}

/// A check has a form of its own, for its limits stand in the configuration: "min_ulps=0,max_ulps=4".
bool StableWriter::check(const Instruction& instruction, int indent) {
  const std::string_view target = instruction.find(AttrKey::kCustomCallTarget)->text();
  const Attr* config = instruction.find(AttrKey::kBackendConfig);
  std::vector<std::string> limits;
  std::string_view text = config == nullptr ? std::string_view() : config->text();
  if (text.size() >= 2) text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) return refuse(instruction, "the limits of this check aren't known");
    const std::string_view key = part.substr(0, equals), value = part.substr(equals + 1);
    if (key == "tolerance") {
      const std::string decimal(value);
      limits.push_back(fmt::format("tolerance = {:.17e}", std::strtod(decimal.c_str(), nullptr)));
    } else {
      limits.push_back(fmt::format("{} = {} : i64",
                                   key == "min_ulps" ? "min_ulp_difference" : "max_ulp_difference", value));
    }
  }
  emit(instruction, target.substr(1, target.size() - 2), fmt::format("{}", fmt::join(limits, ", ")), "",
       indent);
  return true;
}

/// The shape of random numbers is an operand.
bool StableWriter::random(const Instruction& instruction, int indent) {
  const ShapeRef shape = instruction.shape;
  const Names sizes{{fresh()}, false}, made{{fresh()}, false};
  const std::string type_of_sizes = fmt::format("tensor<{}xi64>", shape->rank());
  out_ += fmt::format("{:{}}{} = \"stablehlo.constant\"() <{{value = dense<{}> : {}}}> : () -> {}\n", "",
                      indent, sizes.values[0],
                      shape->rank() == 0 ? "" : fmt::format("[{}]", fmt::join(shape->dimensions, ", ")),
                      type_of_sizes, type_of_sizes);
  const bool normal = instruction.find(AttrKey::kDistribution)->text().ends_with("normal");
  const std::string low = value(operand(instruction, 0), indent),
                    high = value(operand(instruction, 1), indent);
  out_ += fmt::format(
      "{:{}}{} = \"stablehlo.rng\"({}, {}, {}) <{{rng_distribution = #stablehlo<rng_distribution {}>}}> : "
      "({}, {}, {}) "
      "-> {}\n",
      "", indent, made.values[0], low, high, sizes.values[0], normal ? "NORMAL" : "UNIFORM",
      type(operand(instruction, 0).shape), type(operand(instruction, 1).shape), type_of_sizes, type(shape));
  names_[id_of(instruction)] = made;
  return true;
}

bool StableWriter::loop(const Instruction& instruction, int indent) {
  const InstructionId id = id_of(instruction);
  const std::vector<std::string> state = leaves(operand(instruction, 0), indent);
  std::vector<ShapeRef> shapes = {instruction.shape};
  if (instruction.shape->is_tuple())
    shapes.assign(instruction.shape->elements.begin(), instruction.shape->elements.end());
  std::string regions = region_of_state(instruction.find(AttrKey::kCondition)->computations()[0], indent + 2);
  regions += ", " + region_of_state(instruction.find(AttrKey::kBody)->computations()[0], indent + 2);
  if (refusal_) return false;
  Names results{{}, instruction.shape->is_tuple()};
  for (size_t i = 0; i < shapes.size(); ++i) results.values.push_back(fresh());
  emit_line(results, "stablehlo.while", state, shapes, shapes, discardable(instruction, ""), regions, indent);
  names_[id] = results;
  return true;
}

bool StableWriter::conditional(const Instruction& instruction, int indent) {
  const InstructionId id = id_of(instruction);
  std::vector<ComputationId> branches;
  if (const Attr* all = instruction.find(AttrKey::kBranchComputations)) {
    branches.assign(all->computations().begin(), all->computations().end());
  } else {
    branches = {instruction.find(AttrKey::kTrueComputation)->computations()[0],
                instruction.find(AttrKey::kFalseComputation)->computations()[0]};
  }
  const Instruction& chosen = operand(instruction, 0);
  std::string regions;
  for (size_t i = 0; i < branches.size(); ++i) {
    if (i > 0) regions += ", ";
    regions += branch(branches[i], names_[instruction.operands[i + 1]], indent + 2);
  }
  if (refusal_) return false;
  const bool is_if = is_pred(chosen.shape->element_type);
  Names results{{}, instruction.shape->is_tuple()};
  std::vector<ShapeRef> shapes = {instruction.shape};
  if (results.is_pack) shapes.assign(instruction.shape->elements.begin(), instruction.shape->elements.end());
  for (size_t i = 0; i < shapes.size(); ++i) results.values.push_back(fresh());
  const std::string chosen_value = value(chosen, indent);
  emit_line(results, is_if ? "stablehlo.if" : "stablehlo.case", {chosen_value}, {chosen.shape}, shapes,
            discardable(instruction, ""), regions, indent);
  names_[id] = results;
  return true;
}

Result<std::string> to_stablehlo(const Module& module) { return StableWriter(module).write(); }

}  // namespace hlosim
