#include "reduce.h"

#include <algorithm>
#include <vector>

#include "module_text.h"
#include "tokens.h"

namespace hlosim::fuzz {
namespace {

class Reducer {
 public:
  Reducer(std::string text, const std::function<bool(const std::string&)>& shows, size_t most_tries)
      : text_(std::move(text)), shows_(shows), left_(most_tries) {}

  std::string run() {
    for (size_t size = text_.size() + 1; text_.size() < size && left_ > 0;) {
      size = text_.size();
      drop_computations();
      drop_instructions();
      drop_attributes();
      drop_parts([](const std::string& text) { return lines_of(text); }, "\n");
      if (text_.size() < kTokenWise) drop_tokens();
      simplify_numbers();
    }
    return text_;
  }

 private:
  static constexpr size_t kTokenWise = 20000;

  /// Keeps `text` if it shows the fault.
  bool keep(const std::string& text) {
    if (left_ == 0 || text == text_) return false;
    --left_;
    if (!shows_(text)) return false;
    text_ = text;
    return true;
  }

  /// Leaves out runs of parts, halves at first.
  template <class Cut>
  void drop_parts(const Cut& cut, const char* end) {
    for (size_t size = cut(text_).size() / 2; size > 0; size /= 2) {
      for (size_t at = 0;;) {
        const std::string text = text_;
        const auto parts = cut(text);
        if (at >= parts.size() || left_ == 0) break;
        std::string shorter;
        for (size_t i = 0; i < parts.size(); ++i)
          if (i < at || i >= at + size) shorter.append(parts[i]).append(end);
        if (!keep(shorter)) at += size;
      }
    }
  }

  void drop_tokens() {
    std::vector<std::string> pieces;
    drop_parts(
        [](const std::string& text) {
          std::vector<std::string> parts;
          for (const Token& token : tokens_of(text))
            parts.push_back(std::string(token.before) + std::string(token.text));
          return parts;
        },
        "");
  }

  /// Calls `change(module, i)` for i = 0, 1, …; it says false behind the last one. What is kept is asked for
  /// the same number again.
  template <class Change>
  void for_each(const Change& change) {
    for (size_t i = 0; left_ > 0;) {
      std::optional<ModuleText> module = parse_module_text(text_);
      if (!module || !change(*module, i)) return;
      if (!keep(to_text(*module))) ++i;
    }
  }

  void drop_computations() {
    for_each([](ModuleText& module, size_t i) {
      if (i >= module.computations.size()) return false;
      module.computations.erase(module.computations.begin() + static_cast<ptrdiff_t>(i));
      return true;
    });
  }

  /// The i-th instruction, from the last one; its users take what it took, or an earlier value of its shape.
  void drop_instructions() {
    for (const bool is_forwarded : {false, true})
      for_each([&](ModuleText& module, size_t i) {
        for (auto one = module.computations.rbegin(); one != module.computations.rend(); ++one) {
          std::vector<InstructionText>& all = one->instructions;
          if (i >= all.size()) {
            i -= all.size();
            continue;
          }
          const size_t at = all.size() - 1 - i;
          const InstructionText gone = all[at];
          const std::string other = is_forwarded ? substitute(*one, gone, at) : "";
          all.erase(all.begin() + static_cast<ptrdiff_t>(at));
          for (InstructionText& user : all) {
            user.is_root = user.is_root || (gone.is_root && user.name == other);
            for (std::string& operand : user.operands)
              if (operand == gone.name && !other.empty()) operand = other;
          }
          return true;
        }
        return false;
      });
  }

  static std::string substitute(const ComputationText& computation, const InstructionText& gone, size_t at) {
    for (size_t i = at; i-- > 0;)
      if (computation.instructions[i].shape == gone.shape) return computation.instructions[i].name;
    return gone.operands.empty() ? "" : gone.operands[0];
  }

  void drop_attributes() {
    for_each([](ModuleText& module, size_t i) {
      const auto drop = [&](std::vector<std::string>& attributes) {
        if (i >= attributes.size()) {
          i -= attributes.size();
          return false;
        }
        attributes.erase(attributes.begin() + static_cast<ptrdiff_t>(i));
        return true;
      };
      if (drop(module.attributes)) return true;
      for (ComputationText& computation : module.computations)
        for (InstructionText& instruction : computation.instructions)
          if (drop(instruction.attributes)) return true;
      return false;
    });
  }

  void simplify_numbers() {
    for (size_t i = 0; left_ > 0; ++i) {
      const std::string text = text_;
      std::vector<Token> tokens = tokens_of(text);
      if (i >= tokens.size()) return;
      if (tokens[i].kind != TokenKind::kNumber || tokens[i].text.size() < 2) continue;
      for (const char* simpler : {"0", "1", "2", "8"}) {
        tokens[i].text = simpler;
        if (keep(text_of(tokens))) break;
      }
    }
  }

  std::string text_;
  const std::function<bool(const std::string&)>& shows_;
  size_t left_;
};

}  // namespace

std::string reduced(std::string text, const std::function<bool(const std::string&)>& shows,
                    size_t most_tries) {
  return Reducer(std::move(text), shows, most_tries).run();
}

}  // namespace hlosim::fuzz
