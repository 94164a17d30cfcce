#include "hlo/same_content.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "base/hash.h"
#include "hlo/graph.h"

namespace hlosim {
namespace {

uint64_t word(int64_t number) { return static_cast<uint64_t>(number); }
uint64_t word(const void* at) { return reinterpret_cast<uintptr_t>(at); }

void add_ints(std::span<const int64_t> numbers, std::vector<uint64_t>& words) {
  words.push_back(numbers.size());
  for (const int64_t number : numbers) words.push_back(word(number));
}

void add_bytes_of(const void* bytes, size_t size, std::vector<uint64_t>& words) {
  words.push_back(size);
  for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
    uint64_t next = 0;
    std::memcpy(&next, static_cast<const char*>(bytes) + i, std::min(size - i, sizeof(next)));
    words.push_back(next);
  }
}

void add_text(std::string_view text, std::vector<uint64_t>& words) {
  add_bytes_of(text.data(), text.size(), words);
}

/// Longer ones are alike where they are the same one.
constexpr size_t kMostLiteralBytes = 64;

void add_literal(const Literal& literal, std::vector<uint64_t>& words) {
  if (!literal.elements.empty() || literal.data.size() > kMostLiteralBytes)
    return words.push_back(word(&literal));
  words.push_back(word(literal.shape));
  words.push_back(literal.elided);
  add_bytes_of(literal.data.data(), literal.data.size(), words);
}

void add_window(const Window& window, std::vector<uint64_t>& words) {
  words.push_back(window.dimensions.size());
  for (const WindowDimension& one : window.dimensions)
    for (const int64_t number : {one.size, one.stride, one.padding_low, one.padding_high, one.base_dilation,
                                 one.window_dilation, int64_t{one.reversal}})
      words.push_back(word(number));
}

void add_dim_labels(const ConvolutionDimensions& labels, std::vector<uint64_t>& words) {
  for (const int64_t number : {labels.input_batch, labels.input_feature, labels.kernel_input_feature,
                               labels.kernel_output_feature, labels.output_batch, labels.output_feature})
    words.push_back(word(number));
  for (const auto& spatial : {labels.input_spatial, labels.kernel_spatial, labels.output_spatial})
    add_ints(spatial, words);
}

bool holds_text(AttrSyntax syntax) {
  return syntax == AttrSyntax::kWord || syntax == AttrSyntax::kString || syntax == AttrSyntax::kConfig ||
         syntax == AttrSyntax::kSharding || syntax == AttrSyntax::kFrontend ||
         syntax == AttrSyntax::kAccuracy || syntax == AttrSyntax::kBraces;
}

/// False: one of them has no number.
bool add_called(const Attr& attr, const IdMap<ComputationId, int32_t>& numbers,
                std::vector<uint64_t>& words) {
  words.push_back(attr.computations().size());
  for (const ComputationId called : attr.computations()) {
    if (numbers[called] < 0) return false;
    words.push_back(word(numbers[called]));
  }
  return true;
}

/// False: its value names more than words hold.
bool add_value(const Attr& attr, const IdMap<ComputationId, int32_t>& numbers, std::vector<uint64_t>& words) {
  if (attr.holds_computations()) return add_called(attr, numbers, words);
  if (holds_text(attr.syntax)) return add_text(attr.text(), words), true;
  switch (attr.syntax) {
    case AttrSyntax::kBool:
      return words.push_back(attr.flag()), true;
    case AttrSyntax::kInt:
      return words.push_back(word(attr.integer())), true;
    case AttrSyntax::kNumber:
      return words.push_back(std::bit_cast<uint64_t>(attr.number())), true;
    case AttrSyntax::kWords:
      words.push_back(attr.words().size());
      for (const std::string_view text : attr.words()) add_text(text, words);
      return true;
    case AttrSyntax::kInts:
    case AttrSyntax::kInts1:
    case AttrSyntax::kBools:
    case AttrSyntax::kBoolOrBools:
      return add_ints(attr.ints(), words), true;
    case AttrSyntax::kIntLists:
    case AttrSyntax::kPairs:
    case AttrSyntax::kSlices:
    case AttrSyntax::kPadding:
      words.push_back(attr.int_lists().size());
      for (const auto& list : attr.int_lists()) add_ints(list, words);
      return true;
    case AttrSyntax::kWindow:
      return add_window(attr.window(), words), true;
    case AttrSyntax::kDimLabels:
      return add_dim_labels(attr.dim_labels(), words), true;
    case AttrSyntax::kShape:
    case AttrSyntax::kShapes:
      words.push_back(attr.shapes().size());
      for (const ShapeRef shape : attr.shapes()) words.push_back(word(shape));
      return true;
    default:
      return false;
  }
}

}  // namespace

std::span<const uint64_t> WordSequences::sequence(int32_t number) const {
  const auto at = static_cast<size_t>(number);
  const size_t begin = at == 0 ? 0 : ends_[at - 1];
  return std::span(words_).subspan(begin, ends_[at] - begin);
}

WordSequences::Found WordSequences::number_of(std::span<const uint64_t> words) {
  WordHash hash;
  for (const uint64_t one : words) hash.add_word(one);
  const auto next = static_cast<int32_t>(ends_.size());
  const auto [first, is_first] = first_.try_emplace(hash.value(), next);
  for (int32_t number = is_first ? -1 : first->second; number >= 0;
       number = next_[static_cast<size_t>(number)])
    if (std::ranges::equal(sequence(number), words)) return {number, false};
  next_.push_back(is_first ? -1 : first->second);
  first->second = next;
  words_.insert(words_.end(), words.begin(), words.end());
  ends_.push_back(words_.size());
  return {next, true};
}

ContentNumbers::ContentNumbers(const Module& module, const IdMap<ComputationId, uint8_t>& marked)
    : module_(module), numbers_(module.computations.size(), -1), places_(module.instructions.size(), -1) {
  IdMap<ComputationId, uint8_t> wanted = marked;
  const std::vector<ComputationId> order = callees_first(module);
  for (auto caller = order.rbegin(); caller != order.rend(); ++caller)
    if (wanted[*caller])
      for (const InstructionId id : module[*caller].instructions)
        for_each_called(module[id], [&](ComputationId called) { wanted[called] = true; });
  for (const ComputationId id : order)
    if (wanted[id] && add_body(module[id])) numbers_[id] = sequences_.number_of(words_).number;
}

bool ContentNumbers::add_body(const Computation& body) {
  words_.clear();
  int32_t place = 0;
  for (const InstructionId id : body.instructions) {
    const Instruction& instruction = module_[id];
    places_[id] = place++;
    if (!add(instruction, words_)) return false;
    words_.push_back(instruction.operands.size());
    for (const InstructionId operand : instruction.operands) words_.push_back(word(places_[operand]));
  }
  words_.push_back(word(places_[body.root]));
  return true;
}

bool ContentNumbers::add(const Instruction& instruction, std::vector<uint64_t>& words) const {
  words.push_back(static_cast<uint64_t>(instruction.opcode));
  words.push_back(word(instruction.shape));
  words.push_back(word(instruction.parameter_number));
  if (instruction.literal) add_literal(*instruction.literal, words);
  for (const Attr& attr : instruction.attrs) {
    if (attr.key == AttrKey::kCustomCallTarget) return false;  // what it costs may hang on its metadata
    if (attr.syntax == AttrSyntax::kMetadata) continue;
    words.push_back(static_cast<uint64_t>(attr.key));
    if (!add_value(attr, numbers_, words)) return false;
  }
  return true;
}

}  // namespace hlosim
