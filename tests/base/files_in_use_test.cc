#include "base/files_in_use.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/staged_files.h"

namespace hlosim {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FilesInUseTest : public testing::Test {
 protected:
  FilesInUseTest() : folder_(fs::temp_directory_path() / ("files_in_use." + std::to_string(::getpid()))) {
    fs::create_directories(folder_ / "sub");
    std::ofstream(folder_ / "a") << "a";
    std::ofstream(folder_ / "b") << "b";
    fs::create_symlink("a", folder_ / "link");
    fs::create_symlink("new", folder_ / "link-to-new");
    fs::create_directory_symlink("sub", folder_ / "folder");
    fs::create_hard_link(folder_ / "a", folder_ / "hard");
  }
  ~FilesInUseTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string reads(const std::string& name) {
    const Result<void> used = files_.reads(path(name));
    return used ? "" : used.error().message;
  }
  std::string writes(const std::string& what, const std::string& name) {
    const Result<void> used = files_.writes(what, path(name));
    return used ? "" : used.error().message;
  }

  const fs::path folder_;
  FilesInUse files_;
};

TEST_F(FilesInUseTest, NoInputIsAnOutput) {
  EXPECT_EQ(reads("a"), "");
  EXPECT_EQ(reads("a"), "");
  for (const char* name : {"a", "./a", "sub/../a", "link", "hard"})
    EXPECT_EQ(writes("--svg", name),
              "--svg: '" + path(name) + "' would overwrite the input '" + path("a") + "'");
  EXPECT_EQ(writes("--svg", "b"), "");
}

TEST_F(FilesInUseTest, AnOutputIsNoInputLater) {
  EXPECT_EQ(writes("--output", "hard"), "");
  EXPECT_THAT(reads("a"), HasSubstr("--output: '" + path("hard") + "' would overwrite the input"));
  EXPECT_EQ(reads("b"), "");
  // Whoever goes on all the same may not write it.
  EXPECT_THAT(writes("--output", "hard"), HasSubstr("would overwrite the input '" + path("a") + "'"));
  EXPECT_FALSE(files_.writes(path("hard")));
  EXPECT_FALSE(files_.writes(path("link")));
}

TEST_F(FilesInUseTest, OutputsDiffer) {
  EXPECT_EQ(writes("--json", "new"), "");
  EXPECT_EQ(writes("--json", "new"), "");
  EXPECT_THAT(writes("--csv", "new"), HasSubstr("is the same file as that of --json"));
  EXPECT_THAT(writes("--csv", "link-to-new"), HasSubstr("is the same file as that of --json"));
  EXPECT_EQ(writes("--csv", "sub/x"), "");
  EXPECT_THAT(writes("--svg", "folder/x"), HasSubstr("is the same file as that of --csv"));
}

TEST_F(FilesInUseTest, StandardOutputIsOneFileAndDevicesAreNone) {
  EXPECT_TRUE(files_.reads("-"));
  EXPECT_TRUE(files_.writes("--json", "-"));
  EXPECT_FALSE(files_.writes("--csv", "-"));
  EXPECT_TRUE(files_.reads("/dev/null"));
  EXPECT_TRUE(files_.writes("--json", "/dev/null"));
  EXPECT_TRUE(files_.writes("--csv", "/dev/null"));
}

TEST_F(FilesInUseTest, WhatIsNotThereIsNoInput) {
  EXPECT_EQ(reads("new"), "");
  EXPECT_EQ(writes("--json", "new"), "");
  EXPECT_TRUE(files_.writes(path("new")));
}

TEST_F(FilesInUseTest, ResultsWithoutAnOptionOfTheirOwnAreHeldAgainstInputs) {
  EXPECT_EQ(reads("a"), "");
  EXPECT_FALSE(files_.writes(path("link")));
  StagedFiles staged(&files_);
  const std::string_view text[] = {"text"};
  EXPECT_FALSE(staged.add(path("hard"), text));
  EXPECT_TRUE(staged.add(path("b"), text));
  EXPECT_TRUE(staged.commit());
  EXPECT_FALSE(files_.reads(path("sub/../b")));
}

}  // namespace
}  // namespace hlosim
