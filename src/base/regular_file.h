// Reading of regular files only: opening a named pipe waits for a writer, reading a device may have no end.
//
//   const Result<SourcePtr> source = read_regular(path);
//   // of a named pipe, a socket, a device: an error at once
#pragma once

#include <string>

#include "base/source.h"

namespace hlosim {

/// An error if `path` is there and is neither a regular file nor a folder.
Result<void> expect_regular(const std::string& path);

/// read_source() of a regular file; `-` is standard input, whatever that is.
Result<SourcePtr> read_regular(const std::string& path);

}  // namespace hlosim
