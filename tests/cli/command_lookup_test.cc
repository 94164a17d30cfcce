#include "console/command_lookup.h"

#include <gmock/gmock.h>

namespace hlosim {
namespace {

using testing::ElementsAre;

constexpr Command kSome[] = {{"tune", "", nullptr},
                             {"tune late", "", nullptr},
                             {"tune late night", "", nullptr},
                             {"swim fast", "", nullptr}};

std::string_view name_of(const std::vector<std::string>& line, size_t words) {
  const CommandMatch match = find_command(kSome, line);
  EXPECT_EQ(match.words, words);
  return match.command ? match.command->name : "";
}

TEST(CommandLookup, TakesTheMostWords) {
  EXPECT_EQ(name_of({"tune", "late", "night", "x"}, 3), "tune late night");
  EXPECT_EQ(name_of({"tune", "late", "x"}, 2), "tune late");
  EXPECT_EQ(name_of({"tune", "late"}, 2), "tune late");
  EXPECT_EQ(name_of({"tune", "lat"}, 1), "tune");
  EXPECT_EQ(name_of({"tune"}, 1), "tune");
}

TEST(CommandLookup, NeedsAllWords) {
  EXPECT_EQ(name_of({"swim"}, 0), "");
  EXPECT_EQ(name_of({"swim", "slow"}, 0), "");
  EXPECT_EQ(name_of({"swim fast"}, 0), "");
  EXPECT_EQ(name_of({}, 0), "");
}

TEST(CommandLookup, ListsAGroup) {
  EXPECT_THAT(commands_of_group(kSome, "tune"), ElementsAre(&kSome[1], &kSome[2]));
  EXPECT_THAT(commands_of_group(kSome, "tun"), ElementsAre());
  EXPECT_THAT(commands_of_group(kSome, "swim"), ElementsAre(&kSome[3]));
}

}  // namespace
}  // namespace hlosim
