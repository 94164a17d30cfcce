// One line of a dump, read from left to right.
//
//   DumpLine line("value: <3 add @0> (size=16)", 0);
//   line.need("value: <");
//   const int64_t number = line.number();          // 3
//   if (!line.ok()) …                              // line.error(), at line.error_offset()
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hlosim {

/// One line and how far it has been read. The first failure is kept; what is read after it is of no account.
class DumpLine {
 public:
  /// `offset`: of the line in its text.
  DumpLine(std::string_view text, size_t offset) : text_(text), offset_(offset) {}

  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  size_t error_offset() const { return offset_ + error_at_; }
  size_t offset() const { return offset_ + at_; }
  std::string_view rest() const { return text_.substr(at_); }
  bool at_end() const { return at_ == text_.size(); }

  bool eat(std::string_view word);
  void need(std::string_view word);
  void need_end();
  int64_t number();
  /// From 0 on.
  int64_t amount();
  uint64_t address();
  /// Up to the first of `stops`, not empty.
  std::string word(std::string_view stops, const char* what);
  /// Up to `mark`, which is read too.
  std::string until(std::string_view mark, const char* what);
  /// `{1,0}`
  std::vector<int64_t> index();

 private:
  void fail(std::string message);

  std::string_view text_;
  size_t offset_, at_ = 0, error_at_ = 0;
  std::string error_;
};

}  // namespace hlosim
