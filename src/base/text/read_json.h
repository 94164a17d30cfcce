// A JSON document as a tree of values that know where they stand.
#pragma once

#include <optional>
#include <string_view>

#include "base/source.h"
#include "base/value.h"

namespace hlosim {

/// What a scalar of JSON was written as; kept in Value::annotation.
inline constexpr std::string_view kJsonString = "string", kJsonNumber = "number", kJsonBoolean = "boolean";

/// Reads one JSON document. Scalars keep their text (of a string: what it means). Errors, with their place:
/// wrong syntax, a key given twice, more than 100 levels.
std::optional<Value> parse_json(const SourcePtr& source, DiagnosticList& problems);

/// "a number", "text", "true or false", "an object", "an array", "null"
std::string_view json_kind(const Value& value);

}  // namespace hlosim
