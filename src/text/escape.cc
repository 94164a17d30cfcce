#include "text/escape.h"

#include <fmt/format.h>

#include "base/text.h"

namespace hlosim {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

std::string markup_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
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

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

namespace {

std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line)
    if (c == '\n' || c == '\t' || c == '\r') c = ' ';
  return printable(std::move(line));
}

}  // namespace

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
