// JSON read from front to back, one value at a time, for files whose tree would not fit into memory.
//
//   JsonScanner scan(text);
//   scan.object([&](std::string_view key) {
//     if (key == "ts") scan.number(microseconds); else scan.skip();
//   });
//   if (scan.failed()) …                           // scan.offset(), scan.expected()
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hlosim {

class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text) : text_(text) {}

  bool failed() const { return !expected_.empty(); }
  size_t offset() const { return at_; }
  const std::string& expected() const { return expected_; }
  /// Says that something else should stand here.
  void fail(std::string expected) {
    if (!failed()) expected_ = std::move(expected);
  }

  /// The same of what was read before.
  void fail_at(size_t offset, std::string expected) {
    if (failed()) return;
    at_ = offset;
    expected_ = std::move(expected);
  }

  /// What the next value begins with: '{', '[', '"', '0' for numbers, 't', 'f', 'n'; 0 at the end and after a
  /// failure.
  char kind();
  /// Calls each(key) for each member; it reads the value.
  template <class Each>
  void object(Each&& each) {
    if (!enter('{')) return;
    std::string key;
    while (more('}') && string(key) && punctuation(':')) each(std::string_view(key));
    --depth_;
  }
  /// Calls each() for each element; it reads it.
  template <class Each>
  void array(Each&& each) {
    if (!enter('[')) return;
    while (more(']')) each();
    --depth_;
  }
  bool string(std::string& value);
  /// The number as it is written; of a text, what it says.
  bool scalar(std::string& value);
  void skip();
  /// Nothing but blanks is left.
  bool at_end();

 private:
  void blanks();
  bool punctuation(char wanted);
  bool enter(char open);
  bool more(char close);
  bool escape(std::string& value);
  bool word();

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  bool first_ = false;  // nothing of the innermost list was read
  std::string expected_;
};

}  // namespace hlosim
