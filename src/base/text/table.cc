#include "text/table.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace hlosim {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Colours (base/paint.h) take no place.
size_t character_count(std::string_view text) {
  size_t count = text.size() - static_cast<size_t>(std::count_if(text.begin(), text.end(), is_continuation));
  for (size_t at = text.find('\x1b'); at != std::string_view::npos; at = text.find('\x1b', at + 1))
    count -= std::min(text.find('m', at), text.size() - 1) + 1 - at;
  return count;
}

/// At most `width` characters, the middle replaced by "..".
std::string cut(std::string text, size_t width) {
  if (text.size() <= width || width < 4 || character_count(text) <= width) return text;
  size_t head = (width - 2 + 1) / 2;
  size_t tail = text.size() - (width - 2) / 2;
  while (head > 0 && is_continuation(text[head])) --head;
  while (tail < text.size() && is_continuation(text[tail])) ++tail;
  return text.substr(0, head) + ".." + text.substr(tail);
}

}  // namespace

std::string shortened(std::string_view name, size_t width) { return cut(shown(name, name.size()), width); }

void Table::add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = shown(cell, cell.size());
  add_painted(std::move(cells));
}

void Table::add_painted(std::vector<std::string> cells) {
  HLOSIM_CHECK(cells.size() == columns_.size(), "{} cells, {} columns", cells.size(), columns_.size());
  for (size_t i = 0; i < cells.size(); ++i)
    if (columns_[i].width > 0) cells[i] = cut(std::move(cells[i]), columns_[i].width);
  rows_.push_back(std::move(cells));
}

std::string Table::text(std::string_view indent) const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = character_count(columns_[i].title);
    for (const std::vector<std::string>& row : rows_) width = std::max(width, character_count(row[i]));
    widths.push_back(width);
  }
  std::string out;
  const auto cell = [&](size_t i, const std::string& content) {
    const std::string padding(widths[i] - character_count(content), ' ');
    if (i > 0) out += "  ";
    out += columns_[i].align == Align::kLeft ? content + padding : padding + content;
  };
  const auto line = [&](auto&& content) {
    out += indent;
    for (size_t i = 0; i < columns_.size(); ++i) cell(i, content(i));
    while (!out.empty() && out.back() == ' ') out.pop_back();
    out += '\n';
  };
  line([&](size_t i) -> const std::string& { return columns_[i].title; });
  for (const std::vector<std::string>& row : rows_)
    line([&](size_t i) -> const std::string& { return row[i]; });
  return out;
}

}  // namespace hlosim
