#include "text/escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "base/utf8.h"

namespace hlosim {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// A number, or a sign alone, is none; a sum of numbers is one.
bool is_formula(std::string_view text) {
  if (text.empty() || std::string_view("=+-@").find(text[0]) == std::string_view::npos) return false;
  if (text[0] != '+' && text[0] != '-') return true;
  const std::string_view rest = text.substr(1);
  if (rest.empty() || rest == "inf" || rest == "nan") return false;
  if (rest.find_first_not_of("0123456789.eE+-") != std::string_view::npos || rest[0] == '-') return true;
  double value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return error == std::errc::invalid_argument || end != rest.data() + rest.size();
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string out;
  while (!text.empty()) {
    const size_t bytes = utf8_character(text);
    const std::string_view character = text.substr(0, std::max<size_t>(bytes, 1));
    const bool is_one = bytes > 0 && character != "\xEF\xBF\xBE" && character != "\xEF\xBF\xBF";
    out += is_one ? character : kReplacement;
    text.remove_prefix(character.size());
  }
  return out;
}

std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line)
    if (c == '\n' || c == '\t' || c == '\r') c = ' ';
  return printable(std::move(line));
}

std::string markup_escaped(std::string_view text) {
  std::string out;
  for (const char c : valid_utf8(text)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\'')
      out += "&#39;";
    else if (is_control(c) && c != '\n' && c != '\t')
      out += "\xEF\xBF\xBD";
    else
      out += c;
  }
  return out;
}

std::string attribute_escaped(std::string_view text) {
  std::string out;
  for (const char c : markup_escaped(text)) {
    if (c == '\n' || c == '\t')
      out += fmt::format("&#{};", int{c});
    else
      out += c;
  }
  return out;
}

std::string csv_field(std::string_view given) {
  const std::string text = (is_formula(given) ? "'" : "") + valid_utf8(given);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string markdown_cell(std::string_view text) {
  std::string out;
  for (const char c : one_line(text)) {
    if (std::string_view("|\\[]*`").find(c) != std::string_view::npos)
      (out += '\\') += c;
    else if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '@' || c == '#')
      out += fmt::format("&#{};", int{c});
    else
      out += c;
  }
  return out;
}

std::string markdown_code(std::string_view text) {
  std::string out = "`";
  for (const char c : one_line(text)) {
    if (c == '|') out += '\\';
    out += c == '`' ? '\'' : c;
  }
  return out + '`';
}

}  // namespace hlosim
