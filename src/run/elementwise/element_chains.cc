// Joins arithmetic of f32 to chains, which keep the value in registers of the processor.
#include <algorithm>

#include "elementwise/element_program.h"

namespace hlosim {

bool ElementProgramBuilder::is_uniform(Value value) const {
  const Entry& entry = values_[value];
  return entry.kind == Kind::kConstant || (entry.kind == Kind::kInput && uniform_[entry.index]);
}

// The operation as a link of a chain whose value is operand `operand`.
std::optional<ElementProgramBuilder::Link> ElementProgramBuilder::link_to(const Application& application,
                                                                          size_t operand) const {
  const auto is_f32 = [&](Value value) { return type(value) == ElementType::kF32; };
  if (application.operands.size() != 2 || !is_f32(application.result) ||
      !std::all_of(application.operands.begin(), application.operands.end(), is_f32))
    return std::nullopt;
  const std::optional<ChainOp> op = chain_op(application.kernel, operand == 1);
  if (!op) return std::nullopt;
  const Value other = application.operands[1 - operand];
  return Link{other, *op, is_uniform(other)};
}

void ElementProgramBuilder::join_chains() {
  std::vector<size_t> uses(values_.size(), 0);
  for (const Application& application : applications_)
    for (const Value operand : application.operands) ++uses[operand];
  for (const Value output : outputs_) uses[output] += 2;

  constexpr size_t kNobody = ~size_t{0};
  std::vector<size_t> chains(values_.size(), kNobody);  // the application that makes a value and may go on
  std::vector<bool> gone(applications_.size(), false);
  for (size_t s = 0; s < applications_.size(); ++s) {
    Application& application = applications_[s];
    const std::vector<Value> operands = application.operands;
    size_t carried = kNobody;  // the operand that is the chain's value
    for (size_t i = 0; i < operands.size() && i < 2; ++i)
      if (link_to(application, i) && chains[operands[i]] != kNobody && uses[operands[i]] == 1 &&
          applications_[chains[operands[i]]].links.size() < ElementProgram::kMostLinks)
        carried = i;
    if (carried != kNobody) {
      const size_t before = chains[operands[carried]];
      const Link link = *link_to(application, carried);
      application.operands = applications_[before].operands;
      application.operands.push_back(link.operand);
      application.links = applications_[before].links;
      application.links.push_back(link);
      gone[before] = true;
    } else {
      const size_t first = operands.size() == 2 && is_uniform(operands[0]) ? 1 : 0;
      const std::optional<Link> link = link_to(application, first);
      if (!link || is_uniform(operands[first])) continue;
      application.operands = {operands[first], link->operand};
      application.links = {*link};
    }
    chains[application.result] = s;
  }
  // Alone and with two arrays, the operation's own kernel is as good.
  std::vector<Application> left;
  for (size_t s = 0; s < applications_.size(); ++s) {
    Application& application = applications_[s];
    if (gone[s]) continue;
    if (application.links.size() == 1 && !application.links[0].is_scalar) application.links.clear();
    left.push_back(std::move(application));
  }
  applications_ = std::move(left);
}

std::optional<ElementProgram::RowStep> ElementProgram::row_step() const {
  if (inputs_.size() != 2 || !constants_.empty() || outputs_.size() != 1 || output_registers_[0].copies ||
      steps_.empty() || steps_.size() > 2)
    return std::nullopt;
  const Step &first = steps_[0], &last = steps_.back();
  if (first.link_count != 1 || output_registers_[0].reg != last.result) return std::nullopt;
  const Link& link = links_[first.links];
  const uint32_t value = first.operands[0];
  if (!link.is_scalar || value > 1 || link.operand != 1 - value) return std::nullopt;
  if (steps_.size() == 1) return RowStep{value, link.operand, link.op, false};
  static const ElementFn exponential =
      element_kernel(ElementOp::kExp, ElementType::kF32, ElementType::kF32).fn;
  if (last.link_count > 0 || last.kernel.fn != exponential || last.operands[0] != first.result)
    return std::nullopt;
  return RowStep{value, link.operand, link.op, true};
}

void ElementProgramBuilder::find_first_only(ElementProgram& program) const {
  std::vector<bool> whole(values_.size(), false);
  for (const Application& application : applications_) {
    const size_t whole_operands = application.links.empty() ? application.operands.size() : 1;
    for (size_t i = 0; i < whole_operands; ++i) whole[application.operands[i]] = true;
    for (const Link& link : application.links)
      if (!link.is_scalar) whole[link.operand] = true;
  }
  for (const Value output : outputs_) whole[output] = true;
  for (Value value = 0; value < values_.size(); ++value)
    if (values_[value].kind == Kind::kInput) program.first_only_.push_back(!whole[value]);
}

}  // namespace hlosim
