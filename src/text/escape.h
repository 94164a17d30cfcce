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

/// Control characters that markup has no place for become U+FFFD.
std::string markup_escaped(std::string_view text);
/// Of XML: its readers would make blanks of line ends in attributes.
std::string attribute_escaped(std::string_view text);

/// RFC 4180: quoted where a comma, quote or line end is inside.
std::string csv_field(std::string_view text);

/// Text of a table in Markdown that means nothing but itself: no columns, markup, links, mentions, no line
/// ends or hidden characters (base/text.h).
std::string markdown_cell(std::string_view text);
/// The same as code, with the backticks around it.
std::string markdown_code(std::string_view text);

}  // namespace hlosim
