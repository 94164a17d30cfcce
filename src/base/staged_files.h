// Files that appear together or not at all.
//
//   StagedFiles files;
//   const std::string_view parts[] = {header, rows};
//   if (auto failed = files.add("out/table.csv", parts); !failed) return failed;
//   return files.commit();                         // now out/table.csv is there
//
//   write_file("rows.csv", [&](const TextSink& out) {    // never as a whole in memory
//     for (const Row& row : rows) out(to_text(row));
//   });
#pragma once

#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"

namespace hlosim {

class FilesInUse;  // base/files_in_use.h
/// Receives a text part by part.
using TextSink = std::function<void(std::string_view part)>;
/// Gives a text part by part, the same each time.
using TextSource = std::function<void(const TextSink& out)>;

/// Each file is written to a temporary in the folder where it will be; commit() gives them their names.
/// add() may be called from several threads. Whoever goes without commit() leaves nothing behind.
class StagedFiles {
 public:
  /// `in_use`: files that add() refuses to overwrite; null: none.
  explicit StagedFiles(FilesInUse* in_use = nullptr) : in_use_(in_use) {}
  StagedFiles(const StagedFiles&) = delete;
  StagedFiles& operator=(const StagedFiles&) = delete;
  ~StagedFiles();

  /// Writes `parts`, one after another, for `path`. A symbolic link stays one; devices and pipes, which can't
  /// be renamed, are written to at once.
  Result<void> add(const std::string& path, std::span<const std::string_view> parts);
  Result<void> add(const std::string& path, const TextSource& text);

  /// Renames all that was added. Error: the first that failed; those before it stay in place.
  Result<void> commit();

 private:
  struct File {
    std::string temporary, target, path;
  };
  std::mutex mutex_;
  FilesInUse* in_use_;
  std::vector<File> files_;
};

/// write_file() of base/source.h for a text that is made while it is written; not to standard output.
Result<void> write_file(const std::string& path, const TextSource& text);

}  // namespace hlosim
