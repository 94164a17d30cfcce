// The files that a command reads and writes: none may be written that is read too, or written under another
// name.
//
//   FilesInUse files;
//   files.writes("--svg", "out/picture.svg");
//   files.reads("sweep.yaml");
//   files.reads("./out/picture.svg");              // an error: it would be overwritten
//   files.writes("--output", "picture-link.svg");  // an error, where that is a link to the picture
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/source.h"

namespace hlosim {

/// Files are the same by whatever name: with detours, through symbolic links, as hard links. Devices and
/// pipes, which are not replaced, what isn't there, and "-" as an input are no files here; "-" as an output,
/// standard output, is one. For any thread.
class FilesInUse {
 public:
  /// Before or after it is read. The error names the output.
  Result<void> reads(const std::string& path);
  /// Before it is written, by the option or purpose `what`; the same one may call this twice. The error names
  /// the other file.
  Result<void> writes(const std::string& what, const std::string& path);
  /// Before a file is written that has no earlier call with a purpose. Error: the file is an input.
  Result<void> writes(const std::string& path);

 private:
  struct Use {
    std::string what;  // empty: it is read
    std::string path;  // as it was named
  };
  const Use* find(const std::vector<std::string>& names) const;

  std::mutex mutex_;
  std::map<std::string, Use> uses_;  // by each of identities()
};

}  // namespace hlosim
