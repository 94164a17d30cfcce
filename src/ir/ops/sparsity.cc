#include "ops/sparsity.h"

#include <fmt/format.h>

#include <charconv>

#include "base/text.h"

namespace hlosim {
namespace {

class SparsityReader {
 public:
  explicit SparsityReader(std::string_view text) : text_(text) {}

  Result<std::array<OperandSparsity, 2>> read() {
    std::array<OperandSparsity, 2> operands;
    if (!need("{")) return problem();
    while (!take("}")) {
      const bool is_rhs = take("rhs=");
      if (!is_rhs && !need("lhs=")) return problem();
      if (!read_operand(operands[is_rhs ? 1 : 0])) return problem();
      take(",");
    }
    return operands;
  }

 private:
  bool read_operand(OperandSparsity& operand) {
    operand.present = true;
    if (!need("{")) return false;
    while (!take("}")) {
      bool done = false;
      if (take("sparsity="))
        done = integer(operand.kept) && need("x") && integer(operand.of);
      else if (take("dimension="))
        done = integer(operand.dimension);
      else if (take("stride="))
        done = integer(operand.stride);
      else if (take("idx="))
        done = integer(operand.metadata_operand);
      else
        expected_ = "sparsity=, dimension=, stride= or idx=";
      if (!done) return false;
      take(",");
    }
    return true;
  }

  bool take(std::string_view word) {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  bool need(std::string_view word) {
    if (take(word)) return true;
    expected_ = word;
    return false;
  }
  bool integer(int64_t& value) {
    const auto [stop, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    expected_ = "a number";
    if (status != std::errc() || value < 0) return false;
    at_ = static_cast<size_t>(stop - text_.data());
    return true;
  }
  tl::unexpected<Diagnostic> problem() const {
    return failure(
        fmt::format("sparsity_config: expected {} at \"{}\"", expected_, shown(text_.substr(at_), 20)));
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string_view expected_;
};

}  // namespace

Result<std::array<OperandSparsity, 2>> parse_sparsity(std::string_view text) {
  return SparsityReader(text).read();
}

}  // namespace hlosim
