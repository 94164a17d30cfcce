#include "study/file_patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <unistd.h>
#include <fstream>

#include "base/file_path.h"

namespace hlosim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
namespace fs = std::filesystem;

class FilePatterns : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"a.hlo", "b.hlo", "b.txt", ".hidden.hlo", "x[1].hlo", "sub/c.hlo",
                             "sub/deep/d.hlo", ".git/e.hlo", "folder.hlo/f.txt"}) {
      fs::create_directories((folder_ / name).parent_path());
      std::ofstream(folder_ / name) << "text";
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::vector<std::string> find(const std::string& pattern) const { return files_that_fit(folder_, pattern); }

  // Its own name is only a name.
  const fs::path folder_ = fs::path(testing::TempDir()) / fmt::format("file_patterns_{}[1]*", ::getpid());
};

TEST_F(FilePatterns, StarsStayWithinNames) {
  EXPECT_THAT(find("*.hlo"), ElementsAre("a.hlo", "b.hlo", "x[1].hlo"));
  EXPECT_THAT(find("?.hlo"), ElementsAre("a.hlo", "b.hlo"));
  EXPECT_THAT(find("[ab].hlo"), ElementsAre("a.hlo", "b.hlo"));
  EXPECT_THAT(find("*/*.hlo"), ElementsAre("sub/c.hlo"));
  EXPECT_THAT(find("*.mlir"), IsEmpty());
}

TEST_F(FilePatterns, TwoStarsAreFoldersHoweverDeep) {
  EXPECT_THAT(find("**/*.hlo"), ElementsAre("a.hlo", "b.hlo", "sub/c.hlo", "sub/deep/d.hlo", "x[1].hlo"));
  EXPECT_THAT(find("sub/**"), ElementsAre("sub/c.hlo", "sub/deep/d.hlo"));
  EXPECT_THAT(find("**/deep/*"), ElementsAre("sub/deep/d.hlo"));
}

TEST_F(FilePatterns, OneFileHasOneName) {
  EXPECT_THAT(find("./a.hlo"), ElementsAre("a.hlo"));
  EXPECT_THAT(find("sub/../a.hlo"), ElementsAre("a.hlo"));
  EXPECT_THAT(find("./**/./c.hlo"), ElementsAre("sub/c.hlo"));
}

TEST_F(FilePatterns, WithoutStarsItIsTheFileItself) {
  EXPECT_THAT(find("x[1].hlo"), ElementsAre("x[1].hlo"));
  EXPECT_THAT(find(".hidden.hlo"), ElementsAre(".hidden.hlo"));
  EXPECT_THAT(find("none.hlo"), IsEmpty());
  EXPECT_THAT(find("sub"), ElementsAre("sub"));  // whoever reads it says that it is a folder
  EXPECT_THAT(find(""), IsEmpty());
  const std::string whole = (folder_ / "a.hlo").string();
  EXPECT_THAT(find(whole), ElementsAre(whole));
  EXPECT_THAT(files_that_fit("elsewhere", whole), ElementsAre(whole));
}

TEST_F(FilePatterns, LinksToNothingAreThereAndThoseInCirclesEnd) {
  fs::create_symlink("nowhere", folder_ / "link.hlo");
  fs::create_directory_symlink("..", folder_ / "sub" / "up");
  EXPECT_THAT(find("l*.hlo"), ElementsAre("link.hlo"));
  EXPECT_THAT(find("**/c.hlo"), ElementsAre("sub/c.hlo"));
}

// sub/up leads to other/deep; above that lies other, not sub.
TEST_F(FilePatterns, AboveALinkIsWhereItLeadsTo) {
  fs::create_directories(folder_ / "other" / "deep");
  std::ofstream(folder_ / "other" / "a.hlo") << "another";
  fs::create_directory_symlink("../other/deep", folder_ / "sub" / "up");
  EXPECT_THAT(find("sub/up/../a.hlo"), ElementsAre("sub/up/../a.hlo"));
  EXPECT_THAT(find("sub/up/../*.hlo"), ElementsAre("sub/up/../a.hlo"));
  EXPECT_THAT(find("./sub/deep/.././c.hlo"), ElementsAre("sub/c.hlo"));
  EXPECT_THAT(find("sub/.."), ElementsAre("."));
  EXPECT_THAT(find("nowhere/../a.hlo"), IsEmpty());
  EXPECT_EQ(without_detours(folder_ / "sub/up/../a.hlo"), folder_ / "sub/up/../a.hlo");
  EXPECT_EQ(without_detours(folder_ / "sub/./deep/../c.hlo"), folder_ / "sub/c.hlo");
}

TEST_F(FilePatterns, WithoutLinksAFileHasOneName) {
  fs::create_symlink("new", folder_ / "first");
  fs::create_symlink("first", folder_ / "second");
  EXPECT_EQ(without_links(folder_ / "second"), without_links(folder_ / "new"));
  fs::create_directory_symlink("sub", folder_ / "folder");
  EXPECT_EQ(without_links(folder_ / "folder" / "c.hlo"), without_links(folder_ / "sub" / "." / "c.hlo"));
  EXPECT_NE(without_links(folder_ / "new"), without_links(folder_ / "newer"));
  fs::create_symlink("round", folder_ / "round");
  EXPECT_FALSE(without_links(folder_ / "round").empty());
}

// A way through the folders for each place of each ** would be 10^20 of them.
TEST_F(FilePatterns, ManyTwoStarsTakeNoLongerThanOne) {
  fs::path deep = "chain";
  for (int i = 0; i < 40; ++i) deep /= "d";
  fs::create_directories(folder_ / deep);
  std::ofstream(folder_ / deep / "end.hlo") << "text";
  std::string next, apart;
  for (int i = 0; i < 20; ++i) next += "**/", apart += "**/d/";
  EXPECT_THAT(find(next + "end.hlo"), ElementsAre((deep / "end.hlo").string()));
  EXPECT_THAT(find(apart + "end.hlo"), ElementsAre((deep / "end.hlo").string()));
  EXPECT_THAT(find(apart + "none.hlo"), IsEmpty());
  EXPECT_THAT(find("chain/**/**"), ElementsAre((deep / "end.hlo").string()));
}

}  // namespace
}  // namespace hlosim
