#include "elementwise/element_program.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/rounding.h"
#include "elementwise/element_kernels.h"
#include "ops/leaf_forwarding.h"

namespace hlosim {
namespace {

constexpr uint32_t kNone = ~0u;
constexpr int64_t kAlignment = 64;

}  // namespace

// ── putting together ────────────────────────────────────────────

ElementProgramBuilder::Value ElementProgramBuilder::input(ElementType type) {
  values_.push_back({Kind::kInput, type, static_cast<uint32_t>(inputs_.size())});
  inputs_.push_back(type);
  uniform_.push_back(false);
  return static_cast<Value>(values_.size() - 1);
}

ElementProgramBuilder::Value ElementProgramBuilder::constant(ElementType type, const std::byte* bits) {
  values_.push_back({Kind::kConstant, type, static_cast<uint32_t>(constants_.size())});
  constants_.emplace_back();
  constant_types_.push_back(type);
  std::memcpy(constants_.back().data(), bits, static_cast<size_t>(byte_width(type)));
  return static_cast<Value>(values_.size() - 1);
}

ElementProgramBuilder::Value ElementProgramBuilder::apply(ElementKernel kernel,
                                                          std::span<const Value> operands,
                                                          ElementType result) {
  HLOSIM_CHECK(kernel && operands.size() <= 3, "{} operands", operands.size());
  values_.push_back({Kind::kStep, result, static_cast<uint32_t>(applications_.size())});
  const auto value = static_cast<Value>(values_.size() - 1);
  applications_.push_back({kernel, {operands.begin(), operands.end()}, value, {}});
  return value;
}

void ElementProgramBuilder::output(Value value) { outputs_.push_back(value); }

namespace {

// Gives a register to every value that a step makes: the first free one, its operands' own when they die
// there and are wide enough.
class Registers {
 public:
  explicit Registers(uint32_t first) : next_(first) {}
  uint32_t take() {
    if (free_.empty()) return next_++;
    const uint32_t reg = free_.back();
    free_.pop_back();
    return reg;
  }
  void give_back(uint32_t reg) { free_.push_back(reg); }
  uint32_t count() const { return next_; }

 private:
  std::vector<uint32_t> free_;
  uint32_t next_;
};

}  // namespace

ElementProgramBuilder::Lifetimes ElementProgramBuilder::lifetimes() const {
  const size_t steps = applications_.size();
  Lifetimes found{std::vector<size_t>(values_.size(), 0), std::vector<bool>(values_.size(), false),
                  std::vector<uint32_t>(values_.size(), kNone)};
  size_t last_input_read = 0;  // steps from here on read no input
  for (size_t s = 0; s < steps; ++s)
    for (const Value operand : applications_[s].operands) {
      found.last_use[operand] = s;
      if (values_[operand].kind == Kind::kInput) last_input_read = s;
    }
  // The step that makes a value.
  std::vector<size_t> made_by(values_.size(), 0);
  for (size_t s = 0; s < steps; ++s) made_by[applications_[s].result] = s;
  const bool passes_input =
      std::any_of(outputs_.begin(), outputs_.end(), [&](Value v) { return values_[v].kind == Kind::kInput; });
  for (size_t k = 0; k < outputs_.size(); ++k) {
    const Value value = outputs_[k];
    found.kept[value] = true;
    if (values_[value].kind == Kind::kStep && !passes_input && made_by[value] >= last_input_read &&
        found.direct[value] == kNone)
      found.direct[value] = static_cast<uint32_t>(k);
  }
  return found;
}

/// Values of steps that step `s` is the last one to need, each once.
std::vector<ElementProgramBuilder::Value> ElementProgramBuilder::dying_at(size_t s,
                                                                          const Lifetimes& lives) const {
  std::vector<Value> dying;
  for (const Value operand : applications_[s].operands) {
    const bool dies =
        values_[operand].kind == Kind::kStep && lives.last_use[operand] == s && !lives.kept[operand];
    if (dies && std::find(dying.begin(), dying.end(), operand) == dying.end()) dying.push_back(operand);
  }
  return dying;
}

std::shared_ptr<const ElementProgram> ElementProgramBuilder::finish() {
  join_chains();
  auto program = std::make_shared<ElementProgram>();
  const auto inputs = static_cast<uint32_t>(inputs_.size());
  const auto fixed = inputs + static_cast<uint32_t>(constants_.size());
  const Lifetimes lives = lifetimes();

  Registers registers(fixed);
  std::vector<uint32_t> reg(values_.size(), kNone);
  for (size_t v = 0; v < values_.size(); ++v) {
    if (values_[v].kind == Kind::kInput) reg[v] = values_[v].index;
    if (values_[v].kind == Kind::kConstant) reg[v] = inputs + values_[v].index;
  }
  constexpr uint32_t kOutputBase = 1u << 30;  // moved behind the temporaries below
  for (size_t s = 0; s < applications_.size(); ++s) {
    const Application& step = applications_[s];
    const int64_t width = byte_width(values_[step.result].type);
    std::vector<uint32_t> too_narrow;  // for the result
    for (const Value operand : dying_at(s, lives)) {
      if (byte_width(values_[operand].type) >= width)
        registers.give_back(reg[operand]);
      else
        too_narrow.push_back(reg[operand]);
    }
    const uint32_t output = lives.direct[step.result];
    reg[step.result] = output != kNone ? kOutputBase + output : registers.take();
    for (const uint32_t narrow : too_narrow) registers.give_back(narrow);
    ElementProgram::Step made{step.kernel, reg[step.result], {}, 0, 0};
    const size_t direct_operands = step.links.empty() ? step.operands.size() : 1;
    for (size_t i = 0; i < direct_operands; ++i) made.operands[i] = reg[step.operands[i]];
    made.links = static_cast<uint32_t>(program->links_.size());
    made.link_count = static_cast<uint32_t>(step.links.size());
    for (const Link& link : step.links)
      program->links_.push_back({reg[link.operand], link.op, link.is_scalar});
    program->steps_.push_back(made);
    // A result that isn't read gives its register back.
    if (lives.last_use[step.result] <= s && !lives.kept[step.result]) registers.give_back(reg[step.result]);
  }
  const uint32_t output_base = registers.count();
  const auto moved = [&](uint32_t r) { return r >= kOutputBase ? r - kOutputBase + output_base : r; };
  for (ElementProgram::Step& step : program->steps_) {
    step.result = moved(step.result);
    for (uint32_t& operand : step.operands) operand = moved(operand);
  }
  for (ElementProgram::Link& link : program->links_) link.operand = moved(link.operand);
  find_first_only(*program);
  for (size_t k = 0; k < outputs_.size(); ++k) {
    const Value value = outputs_[k];
    program->outputs_.push_back(values_[value].type);
    program->output_registers_.push_back(
        {moved(reg[value]), lives.direct[value] != static_cast<uint32_t>(k)});
  }
  for (const Entry& entry : values_) program->widest_ = std::max(program->widest_, byte_width(entry.type));
  program->inputs_ = inputs_;
  program->constants_ = constants_;
  program->constant_types_ = constant_types_;
  program->registers_ = output_base;
  program->single_ = single_;
  return program;
}

// ── running ─────────────────────────────────────────────────────

ElementRunner::ElementRunner(const ElementProgram& program, int64_t block)
    : program_(program), block_(block), chain_(chain_kernel()) {
  const size_t first_constant = program.inputs_.size();
  const size_t first_temporary = first_constant + program.constants_.size();
  // Temporaries are as wide as the widest value; constants are spread over a block in their own width.
  const int64_t slot = round_up(program.widest_ * block, kAlignment);
  const auto slots = static_cast<int64_t>(program.registers_ - first_constant);
  storage_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(slots * slot + kAlignment));
  const auto address = reinterpret_cast<uintptr_t>(storage_.get());
  std::byte* next = storage_.get() + (kAlignment - static_cast<int64_t>(address % kAlignment)) % kAlignment;
  registers_.assign(program.registers_ + program.outputs_.size(), nullptr);
  for (size_t r = first_constant; r < program.registers_; ++r, next += slot) {
    registers_[r] = next;
    if (r >= first_temporary) continue;
    const size_t c = r - first_constant;
    const auto width = static_cast<size_t>(byte_width(program.constant_types_[c]));
    for (int64_t i = 0; i < block; ++i)
      std::memcpy(next + static_cast<size_t>(i) * width, program.constants_[c].data(), width);
  }
}

void ElementRunner::run(const void* const* in, void* const* out, int64_t n) {
  for (int64_t offset = 0; offset < n; offset += block_)
    run_block(in, out, offset, std::min(block_, n - offset), block_);
}

void ElementRunner::run_block(const void* const* in, void* const* out, int64_t offset, int64_t n,
                              int64_t row) {
  const ElementProgram& program = program_;
  for (size_t i = 0; i < program.inputs_.size(); ++i)
    registers_[i] = static_cast<const std::byte*>(in[i]) + offset * byte_width(program.inputs_[i]);
  for (size_t k = 0; k < program.outputs_.size(); ++k)
    registers_[program.registers_ + k] =
        static_cast<std::byte*>(out[k]) + offset * byte_width(program.outputs_[k]);
  for (const ElementProgram::Step& step : program.steps_) {
    if (step.link_count > 0) {
      run_chain(step, n, row);
      continue;
    }
    const void* operands[3] = {registers_[step.operands[0]], registers_[step.operands[1]],
                               registers_[step.operands[2]]};
    step.kernel.fn(const_cast<std::byte*>(registers_[step.result]), operands, step.kernel.immediate, n);
  }
  for (size_t k = 0; k < program.outputs_.size(); ++k) {
    const ElementProgram::Output& output = program.output_registers_[k];
    if (output.copies && registers_[output.reg] != registers_[program.registers_ + k])
      std::memcpy(const_cast<std::byte*>(registers_[program.registers_ + k]), registers_[output.reg],
                  static_cast<size_t>(n * byte_width(program.outputs_[k])));
  }
}

void ElementRunner::run_chain(const ElementProgram::Step& step, int64_t n, int64_t row) {
  ChainLink links[ElementProgram::kMostLinks];
  for (uint32_t i = 0; i < step.link_count; ++i) {
    const ElementProgram::Link& link = program_.links_[step.links + i];
    links[i] = {reinterpret_cast<const float*>(registers_[link.operand]), link.op, link.is_scalar};
  }
  chain_(reinterpret_cast<float*>(const_cast<std::byte*>(registers_[step.result])),
         reinterpret_cast<const float*>(registers_[step.operands[0]]), links, step.link_count, n, row);
}

// ── computations ────────────────────────────────────────────────

namespace {

// Turns a computation's instructions into steps; values of an instruction are one per leaf.
class Opener {
 public:
  Opener(const Module& module, const OpTable& table)
      : module_(module), table_(table), shapes_(module.shapes().copy()) {}

  using Values = std::vector<ElementProgramBuilder::Value>;

  // The values of the computation's root, given those of its parameters' leaves; false: not arithmetic.
  bool open(ComputationId id, const Values& arguments, Values& results) {
    const Computation& computation = module_[id];
    IdMap<InstructionId, Values>& values = values_of(id);
    size_t first = 0;
    for (const InstructionId parameter : computation.parameters) {
      const auto leaves = static_cast<size_t>(leaf_count(module_[parameter].shape));
      values[parameter].assign(arguments.begin() + static_cast<std::ptrdiff_t>(first),
                               arguments.begin() + static_cast<std::ptrdiff_t>(first + leaves));
      first += leaves;
    }
    for (const InstructionId instruction : computation.instructions)
      if (module_[instruction].parameter_number < 0 && !add(instruction, values)) return false;
    results = values[computation.root];
    return true;
  }

  ElementProgramBuilder builder;

 private:
  // Values of one activation; a computation called twice has its values anew.
  IdMap<InstructionId, Values>& values_of(ComputationId) {
    activations_.emplace_back(std::make_unique<IdMap<InstructionId, Values>>(module_.instructions.size()));
    return *activations_.back();
  }

  bool add(InstructionId id, IdMap<InstructionId, Values>& values) {
    const Instruction& instruction = module_[id];
    const OpDef& def = table_[instruction.opcode];
    if (def.has(kSideEffect)) return false;
    if (instruction.literal) return add_constant(instruction, values[id]);
    const OpContext op(module_, shapes_, instruction, table_, nullptr);
    Values operands;
    for (const InstructionId operand : instruction.operands)
      operands.insert(operands.end(), values[operand].begin(), values[operand].end());
    if (def.forward) {
      std::vector<int64_t> leaves;
      def.forward(op, leaves);
      for (const int64_t leaf : leaves) {
        if (leaf < 0) return false;
        values[id].push_back(operands[static_cast<size_t>(leaf)]);
      }
      return true;
    }
    if (const auto opened = opened_call(op)) return open(opened->computation, operands, values[id]);
    if (!instruction.shape->is_scalar()) return false;
    for (const InstructionId operand : instruction.operands)
      if (!module_[operand].shape->is_scalar()) return false;
    if (def.view && !def.element) {
      values[id] = {operands[0]};
      return operands.size() == 1 && builder.type(operands[0]) == instruction.shape->element_type;
    }
    const ElementKernel kernel = def.element ? elementwise_kernel(op) : ElementKernel{};
    if (!kernel) return false;
    values[id] = {builder.apply(kernel, operands, instruction.shape->element_type)};
    return true;
  }

  bool add_constant(const Instruction& instruction, Values& values) {
    const Literal& literal = *instruction.literal;
    if (!literal.shape->is_scalar() || literal.elided) return false;
    std::array<std::byte, 16> bits{};
    std::memcpy(bits.data(), literal.data.data(), literal.data.size());
    values = {builder.constant(literal.shape->element_type, bits.data())};
    return true;
  }

  const Module& module_;
  const OpTable& table_;
  ShapePool shapes_;
  std::vector<std::unique_ptr<IdMap<InstructionId, Values>>> activations_;
};

// The root when it is one operation on the two parameters.
std::optional<ElementProgram::Single> single_operation(const Module& module, const OpTable& table,
                                                       ComputationId id) {
  const Computation& computation = module[id];
  const Instruction& root = module.root(id);
  if (computation.parameters.size() != 2 || root.operands.size() != 2 || !root.shape->is_array())
    return std::nullopt;
  const int64_t lhs = module[root.operands[0]].parameter_number,
                rhs = module[root.operands[1]].parameter_number;
  if (lhs < 0 || rhs < 0 || lhs == rhs || module[root.operands[0]].shape != module[root.operands[1]].shape ||
      root.shape->element_type != module[root.operands[0]].shape->element_type)
    return std::nullopt;
  const auto element = table[root.opcode].element;
  const auto op =
      element ? element(OpContext(const_cast<Module&>(module), root, table, nullptr)) : std::nullopt;
  if (!op) return std::nullopt;
  return ElementProgram::Single{*op, root.shape->element_type, lhs == 1};
}

}  // namespace

std::shared_ptr<const ElementProgram> element_program(const Module& module, const OpTable& table,
                                                      ComputationId computation) {
  Opener opener(module, table);
  Opener::Values arguments, results;
  bool scalars = true;
  for (const InstructionId parameter : module[computation].parameters)
    for_each_leaf(module[parameter].shape, [&](ShapeRef leaf) {
      scalars &= leaf->is_scalar();
      if (scalars) arguments.push_back(opener.builder.input(leaf->element_type));
    });
  if (!scalars || !opener.open(computation, arguments, results)) return nullptr;
  for (const auto value : results) opener.builder.output(value);
  if (auto single = single_operation(module, table, computation)) opener.builder.set_single(*single);
  return opener.builder.finish();
}

}  // namespace hlosim
