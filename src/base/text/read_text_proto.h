// A message in protobuf's text format, without knowing its type, as a tree of values that know where they
// stand.
//
//   const Result<Value> message = read_text_proto(source);  // max_retries: 3  overrides { size_gte: 100 }
//   message->find("max_retries")->text                      // "3"
//   message->find("overrides")->find("size_gte")->text      // "100"
#pragma once

#include <string_view>

#include "base/source.h"
#include "base/value.h"

namespace hlosim {

/// What a text in quotes has as Value::annotation; its Value::text is what it means.
inline constexpr std::string_view kTextProtoString = "string";

/// A map of the fields in their order; a repeated field and a list are several items of one key. Names and
/// scalars may have dots, signs and dashes. Errors, with their place: wrong syntax, more than 20 messages
/// inside of each other.
Result<Value> read_text_proto(const SourcePtr& source);

}  // namespace hlosim
