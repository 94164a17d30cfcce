#include "modules/original_value.h"

namespace hlosim {
namespace {

/// Walks text and shape side by side.
class TreeWalk {
 public:
  explicit TreeWalk(std::string_view text) : text_(text) {}

  bool fits(ShapeRef shape) {
    if (!eat('{') || peek() == '[') return true;
    return walk(shape) || malformed_;
  }

 private:
  char peek() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool eat(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  bool walk(ShapeRef shape) {
    if (eat('(')) {
      if (!shape->is_tuple()) return false;
      size_t count = 0;
      for (; !eat(')'); ++count) {
        if (count > 0 && !eat(',')) return !(malformed_ = true);
        if (count == shape->elements.size() || !walk(shape->elements[count])) return false;
      }
      return count == shape->elements.size();
    }
    if (!skip_leaf()) return !(malformed_ = true);
    return !shape->is_tuple();
  }

  bool skip_leaf() {
    if (peek() != '{') return false;
    int depth = 0;
    bool quoted = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (quoted && c == '\\')
        ++at_;
      else if (c == '"')
        quoted = !quoted;
      else if (!quoted && c == '{')
        ++depth;
      else if (!quoted && c == '}' && --depth == 0)
        return ++at_, true;
    }
    return false;
  }

  std::string_view text_;
  size_t at_ = 0;
  bool malformed_ = false;
};

}  // namespace

bool original_value_fits(std::string_view text, ShapeRef shape) { return TreeWalk(text).fits(shape); }

}  // namespace hlosim
