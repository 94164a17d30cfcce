#include "pool.h"

namespace hlosim::fuzz {
namespace {

constexpr size_t kLongestPart = 400;

std::vector<std::string> list_of(const std::set<std::string, std::less<>>& parts) {
  return {parts.begin(), parts.end()};
}

}  // namespace

void PoolMaker::keep(Parts& parts, std::string_view part) {
  if (!part.empty() && part.size() <= kLongestPart && !parts.contains(part)) parts.emplace(part);
}

void PoolMaker::add(std::string name, std::string text) {
  Seed seed{std::move(name), std::move(text), {}};
  seed.module = parse_module_text(seed.text);
  for (const Token& token : tokens_of(seed.text)) keep(tokens_[static_cast<size_t>(token.kind)], token.text);
  if (!seed.module) {
    for (const std::string_view line : lines_of(seed.text)) keep(lines_, line);
    pool_.seeds.push_back(std::move(seed));
    return;
  }
  for (const std::string& attribute : seed.module->attributes) keep(headers_, attribute);
  for (size_t c = 0; c < seed.module->computations.size(); ++c) {
    const ComputationText& computation = seed.module->computations[c];
    for (size_t i = 0; i < computation.instructions.size(); ++i) {
      const InstructionText& instruction = computation.instructions[i];
      pool_.places[instruction.opcode].push_back({pool_.seeds.size(), c, i});
      keep(opcodes_, instruction.opcode);
      keep(shapes_, instruction.shape);
      keep(lines_, "  " + to_text(instruction));
      for (const std::string& attribute : instruction.attributes)
        keep(attributes_[std::string(InstructionText::key_of(attribute))], attribute);
    }
  }
  pool_.seeds.push_back(std::move(seed));
}

Pool PoolMaker::finish() {
  for (size_t kind = 0; kind < tokens_.size(); ++kind) pool_.tokens[kind] = list_of(tokens_[kind]);
  pool_.lines = list_of(lines_);
  pool_.opcodes = list_of(opcodes_);
  pool_.headers = list_of(headers_);
  pool_.shapes = list_of(shapes_);
  for (const auto& [key, values] : attributes_) pool_.attributes[key] = list_of(values);
  return std::move(pool_);
}

}  // namespace hlosim::fuzz
