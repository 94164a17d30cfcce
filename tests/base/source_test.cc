#include "base/source.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/staged_files.h"

namespace hlosim {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class SourceFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "hlosim-source-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string content(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  size_t file_count() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST(SourceFile, LocatesLinesAndColumns) {
  const SourceFile file("m.hlo", "ab\ncd\r\n\nx");
  const auto at = [&](uint32_t offset) {
    const LineColumn place = file.locate(offset);
    return std::pair(place.line, place.column);
  };
  EXPECT_EQ(at(0), std::pair(int64_t{1}, int64_t{1}));
  EXPECT_EQ(at(2), std::pair(int64_t{1}, int64_t{3}));  // the line end belongs to its line
  EXPECT_EQ(at(3), std::pair(int64_t{2}, int64_t{1}));
  EXPECT_EQ(at(7), std::pair(int64_t{3}, int64_t{1}));
  EXPECT_EQ(at(8), std::pair(int64_t{4}, int64_t{1}));
  EXPECT_EQ(at(1000), std::pair(int64_t{4}, int64_t{2}));
  EXPECT_EQ(file.line_at(4), "cd");
  EXPECT_EQ(file.line_at(7), "");
  EXPECT_EQ(file.line_at(1000), "x");
  EXPECT_EQ(SourceFile("e", "").line_at(0), "");
}

Diagnostic at(std::string text, uint32_t offset) {
  Diagnostic diagnostic;
  diagnostic.message = "expects opcode";
  diagnostic.source = std::make_shared<const SourceFile>("m.hlo", std::move(text));
  diagnostic.offset = offset;
  return diagnostic;
}

TEST(Render, PointsAtThePlace) {
  Diagnostic diagnostic = at("HloModule m\n  %x = f32[]{} parameter(0)\n", 24);
  diagnostic.hint = "a scalar's layout needs a property";
  EXPECT_EQ(render(diagnostic),
            "m.hlo:2:13: error: expects opcode\n"
            "    %x = f32[]{} parameter(0)\n"
            "              ^\n"
            "  hint: a scalar's layout needs a property\n");
}

TEST(Render, SeveritiesAndPlaceless) {
  Diagnostic diagnostic;
  diagnostic.message = "no such device";
  EXPECT_EQ(render(diagnostic), "hlosim: error: no such device\n");
  diagnostic.severity = Severity::kWarning;
  EXPECT_EQ(render(diagnostic), "hlosim: warning: no such device\n");
  diagnostic.severity = Severity::kNote;
  EXPECT_EQ(render(diagnostic), "hlosim: note: no such device\n");
}

TEST(Render, TabsKeepTheCaretInPlace) {
  EXPECT_EQ(render(at("\tab\tc", 4)), "m.hlo:1:5: error: expects opcode\n  \tab\tc\n  \t  \t^\n");
}

TEST(Render, WideCharactersTakeOneColumn) {
  EXPECT_EQ(render(at("äö x", 5)), "m.hlo:1:6: error: expects opcode\n  äö x\n     ^\n");
}

TEST(Render, ControlCharactersAndEnd) {
  EXPECT_EQ(render(at(std::string("a\0b", 3), 1)), "m.hlo:1:2: error: expects opcode\n  a?b\n   ^\n");
  EXPECT_EQ(render(at("ab", 99)), "m.hlo:1:3: error: expects opcode\n  ab\n    ^\n");
  EXPECT_EQ(render(at("", 0)), "m.hlo:1:1: error: expects opcode\n  \n  ^\n");
}

TEST(Render, BytesThatAreNoTextAreNotShown) {
  const auto at_start = [](std::string text) {
    Diagnostic diagnostic;
    diagnostic.message = "wrong";
    diagnostic.source = std::make_shared<const SourceFile>("x.bin", std::move(text));
    return render(diagnostic);
  };
  EXPECT_EQ(at_start("6\xd1\xd7]\x8e\x03\x01V\xfd\xb3"), "x.bin:1:1: error: wrong\n");
  // A control character alone, or letters of another alphabet, are shown.
  EXPECT_NE(at_start("add(a, \x01 b)").find("add(a, ? b)"), std::string::npos);
  EXPECT_NE(at_start("привет").find("привет"), std::string::npos);
}

TEST(Render, LongLinesAreCutAroundTheCaret) {
  for (const size_t place : {size_t{0}, size_t{70}, size_t{500}, size_t{900}, size_t{999}}) {
    std::string text(1000, '.');
    text[place] = '#';
    const std::string out = render(at(text, static_cast<uint32_t>(place)));
    const std::string line = out.substr(out.find('\n') + 1);
    const size_t second = line.find('\n') + 1;
    EXPECT_LT(second, 180u);
    EXPECT_EQ(line.find('#'), line.find('^') - second) << place;
  }
}

TEST(Render, CuttingKeepsCharactersWhole) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "ä";
  const std::string out = render(at(text, 401));  // inside a character
  const size_t line = out.find('\n') + 3;
  EXPECT_EQ(out.substr(line, 3), "...");
  EXPECT_EQ(out.substr(line + 3, 2), "ä");
  EXPECT_EQ(out.substr(out.rfind("...") - 2, 2), "ä");
}

TEST(DiagnosticList, KeepsAtMostSoManyErrors) {
  DiagnosticList list(2);
  Diagnostic warning;
  warning.severity = Severity::kWarning;
  list.add(warning);
  EXPECT_FALSE(list.has_errors());
  for (int i = 0; i < 5; ++i) list.add(Diagnostic());
  list.add(warning);
  EXPECT_TRUE(list.has_errors());
  EXPECT_TRUE(list.full());
  EXPECT_EQ(list.error_count(), 5u);
  EXPECT_EQ(list.items().size(), 4u);
}

TEST(Failure, CarriesMessageAndHint) {
  const Result<int> result = failure("no", "yes");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "no");
  EXPECT_EQ(result.error().hint, "yes");
  EXPECT_EQ(result.error().severity, Severity::kError);
}

TEST_F(SourceFiles, ReadsEveryByteOfAnySize) {
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{4096}, (size_t{1} << 20) - 1, size_t{1} << 20, size_t{5} << 20}) {
    std::string text(size, '\0');
    for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 31 + i / 256);
    ASSERT_TRUE(write_file(path("f"), text));
    const Result<SourcePtr> source = read_source(path("f"));
    ASSERT_TRUE(source) << size;
    EXPECT_TRUE((*source)->text() == text) << size;
    EXPECT_EQ((*source)->name(), path("f"));
  }
}

TEST_F(SourceFiles, ReadsPipes) {
  const std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string text(300000, 'x');
  text += "end";
  std::thread writer([&] { EXPECT_TRUE(write_file(pipe, text)); });
  const Result<SourcePtr> source = read_source(pipe);
  writer.join();
  ASSERT_TRUE(source);
  EXPECT_TRUE((*source)->text() == text);
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST_F(SourceFiles, ReadErrorsNameFileAndReason) {
  EXPECT_EQ(read_source(path("none")).error().message,
            "cannot read '" + path("none") + "': No such file or directory");
  EXPECT_EQ(read_source(folder_.string()).error().message,
            "cannot read '" + folder_.string() + "': Is a directory");
}

TEST_F(SourceFiles, WritesWholeFilesAndLeavesNothingElse) {
  ASSERT_TRUE(write_file(path("out"), "first"));
  ASSERT_TRUE(write_file(path("out"), "2nd"));
  EXPECT_EQ(content(path("out")), "2nd");
  EXPECT_EQ(file_count(), 1u);
}

TEST_F(SourceFiles, WriteHonoursTheUmask) {
  const mode_t old = ::umask(027);
  const Result<void> written = write_file(path("out"), "x");
  ::umask(old);
  ASSERT_TRUE(written);
  struct stat info {};
  ASSERT_EQ(::stat(path("out").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(SourceFiles, WritesTextsThatAreMadeMeanwhile) {
  for (const size_t size : {1u, 7u, 65'535u, 65'536u, 65'537u, 300'000u}) {
    std::string whole;
    const auto written = write_file(path("out"), [&](const TextSink& out) {
      for (size_t i = 0; i < 5; ++i) {
        const std::string part(i == 3 ? 0 : size + i, static_cast<char>('a' + i));
        whole += part;
        out(part);
      }
    });
    ASSERT_TRUE(written);
    EXPECT_TRUE(content(path("out")) == whole) << size;
    EXPECT_EQ(file_count(), 1u);
  }
  const TextSource two_parts = [](const TextSink& out) { out("x"), out(std::string(100'000, 'y')); };
  EXPECT_FALSE(write_file(path("no/such/out"), two_parts));
  if (fs::exists("/dev/full")) {
    EXPECT_FALSE(write_file("/dev/full", two_parts));
  }
}

TEST_F(SourceFiles, FailedWritesChangeNothing) {
  const Result<void> nowhere = write_file(path("no/such/out"), "x");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().message, "cannot write '" + path("no/such/out") + "': No such file or directory");
  fs::create_directory(path("taken"));
  const Result<void> folder = write_file(path("taken"), "x");
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr("cannot write"));
  EXPECT_EQ(file_count(), 1u);
  EXPECT_TRUE(fs::is_directory(path("taken")));
}

TEST_F(SourceFiles, LinksStayLinks) {
  ASSERT_TRUE(write_file(path("real"), "old"));
  fs::create_symlink(path("real"), path("link"));
  ASSERT_TRUE(write_file(path("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content(path("real")), "new");
}

// One that leads nowhere yet is a link all the same: to a file beside it, through another link, in a folder.
TEST_F(SourceFiles, LinksThatLeadNowhereYetStayLinks) {
  fs::create_directory(path("folder"));
  fs::create_symlink("target", path("link"));
  fs::create_symlink("link", path("link of link"));
  fs::create_symlink(path("folder/made"), path("far"));
  for (const auto& [link, target] :
       {std::pair{"link of link", "target"}, {"link", "target"}, {"far", "folder/made"}}) {
    ASSERT_TRUE(write_file(path(link), link));
    EXPECT_TRUE(fs::is_symlink(path(link))) << link;
    EXPECT_TRUE(fs::is_symlink(path("link")));
    EXPECT_FALSE(fs::is_symlink(path(target)));
    EXPECT_EQ(content(path(target)), link);
  }
  fs::create_symlink("nowhere/file", path("broken"));
  EXPECT_FALSE(write_file(path("broken"), "x"));
  EXPECT_TRUE(fs::is_symlink(path("broken")));
  fs::create_symlink("circle", path("circle"));
  const Result<void> circle = write_file(path("circle"), "x");
  ASSERT_FALSE(circle);
  EXPECT_THAT(circle.error().message, HasSubstr("Too many levels"));
}

TEST_F(SourceFiles, DevicesStayDevices) {
  ASSERT_TRUE(write_file("/dev/null", "x"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const Result<void> full = write_file("/dev/full", "x");
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().message, "cannot write '/dev/full': No space left on device");
}

// Whoever reads while the file is rewritten sees one whole version or another.
TEST_F(SourceFiles, ReadersNeverSeeHalfAFile) {
  const std::string versions[] = {std::string(200000, 'a'), std::string(100000, 'b')};
  ASSERT_TRUE(write_file(path("out"), versions[0]));
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(write_file(path("out"), versions[i % 2]));
    done = true;
  });
  bool whole = true;
  do {
    const std::string seen = content(path("out"));
    whole &= seen == versions[0] || seen == versions[1];
  } while (!done);
  writer.join();
  EXPECT_TRUE(whole);
}

}  // namespace
}  // namespace hlosim
