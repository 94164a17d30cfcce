// Without protobuf.
#include <fmt/format.h>

#include "input/proto_text.h"

namespace hlosim {

Result<std::string> text_of_proto(std::string_view, const std::string& name) {
  return failure(fmt::format("cannot read '{}': HLO protos are not read in a browser", name),
                 "HLO text, StableHLO text and bytecode, and files of jax.export are; `hlosim print` turns a "
                 "proto into text");
}

}  // namespace hlosim
