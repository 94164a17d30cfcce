#include "xla_dump/dump_line.h"

#include <fmt/format.h>

#include <charconv>

#include "base/text.h"

namespace hlosim {

bool DumpLine::eat(std::string_view word) {
  if (!rest().starts_with(word)) return false;
  at_ += word.size();
  return true;
}

void DumpLine::need(std::string_view word) {
  if (!eat(word)) fail(fmt::format("expected '{}'", word));
}

void DumpLine::need_end() {
  if (!at_end()) fail("expected the end of the line");
}

int64_t DumpLine::number() {
  int64_t value = 0;
  const char* begin = text_.data() + at_;
  const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (error == std::errc::result_out_of_range)
    fail("number doesn't fit 64 bits");
  else if (error != std::errc())
    fail("expected a number");
  else
    at_ += static_cast<size_t>(end - begin);
  return value;
}

int64_t DumpLine::amount() {
  const size_t before = at_;
  const int64_t value = number();
  if (ok() && value < 0) at_ = before, fail("expected a number from 0 on");
  return value;
}

uint64_t DumpLine::address() {
  uint64_t value = 0;
  const char* begin = text_.data() + at_;
  const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value, 16);
  if (error != std::errc()) fail("expected an address");
  at_ += static_cast<size_t>(end - begin);
  return value;
}

std::string DumpLine::word(std::string_view stops, const char* what) {
  const size_t end = std::min(text_.find_first_of(stops, at_), text_.size());
  if (end == at_) fail(fmt::format("expected {}", what));
  const std::string found(text_.substr(at_, end - at_));
  at_ = end;
  return found;
}

std::string DumpLine::until(std::string_view mark, const char* what) {
  const size_t end = text_.find(mark, at_);
  if (end == std::string_view::npos) {
    fail(fmt::format("expected {} and '{}'", what, mark));
    return {};
  }
  const std::string found(text_.substr(at_, end - at_));
  at_ = end + mark.size();
  return found;
}

std::vector<int64_t> DumpLine::index() {
  std::vector<int64_t> index;
  need("{");
  while (ok() && !eat("}")) {
    if (!index.empty()) need(",");
    if (ok()) index.push_back(amount());
  }
  return index;
}

void DumpLine::fail(std::string message) {
  if (!ok()) return;
  error_ = std::move(message);
  error_ += at_end() ? ", the line ends here" : fmt::format(", saw '{}'", shown(rest(), 40));
  error_at_ = at_;
}

}  // namespace hlosim
