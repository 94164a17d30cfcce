// Texts inside of other formats.
//
//   markup_escaped("a < b")           "a &lt; b", in HTML, SVG and XML, between tags or in quotes
//   csv_field("a, \"b\"")             "\"a, \"\"b\"\"\""
//   markdown_cell("a | b")            "a \\| b"
//   markdown_code("a | b")            "`a \\| b`"
#pragma once

#include <string>
#include <string_view>

namespace hlosim {

/// Without what is not UTF-8, and what XML takes for no character: these become U+FFFD, which the rest of a
/// file survives.
std::string valid_utf8(std::string_view text);

/// Between other words of a line: without ends of lines, tabs and hidden characters (base/text.h).
std::string one_line(std::string_view text);

/// Control characters that markup has no place for become U+FFFD.
std::string markup_escaped(std::string_view text);
/// Of XML: its readers would make blanks of line ends in attributes.
std::string attribute_escaped(std::string_view text);

/// RFC 4180: quoted where a comma, quote or line end is inside. What a table's program would compute, for it
/// begins with = + - or @ and is no number, gets a ' before it, as such programs write text.
std::string csv_field(std::string_view text);

/// Text of a table in Markdown that means nothing but itself: no columns, markup, links, mentions, no line
/// ends or hidden characters (base/text.h).
std::string markdown_cell(std::string_view text);
/// The same as code, with the backticks around it.
std::string markdown_code(std::string_view text);

}  // namespace hlosim
