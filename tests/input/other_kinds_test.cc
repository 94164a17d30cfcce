#include "input/other_kinds.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "input/hlo_file.h"

namespace hlosim {
namespace {

SourcePtr source_of(std::string text) { return std::make_shared<const SourceFile>("file", std::move(text)); }

std::string message_of_kind(std::string text) {
  const std::optional<Diagnostic> other = other_kind(source_of(std::move(text)));
  return other ? other->message : "";
}

TEST(OtherKinds, ModulesAreNone) {
  for (const char* text : {"HloModule m\n", "# comment\nHloModule m\n",
                           "ENTRY e { ROOT a = f32[] parameter(0) }", "fused { a = f32[] parameter(0) }",
                           "a = f32[4] parameter(0)", "%a = f32[4] parameter(0)", "", "\n\n"})
    EXPECT_EQ(message_of_kind(text), "") << text;
}

TEST(OtherKinds, AreToldByTheirContent) {
  EXPECT_EQ(message_of_kind("#!/usr/bin/env python3\nx = 1\n"),
            "'file' is Python source, not a compiled program");
  EXPECT_EQ(message_of_kind("\"\"\"A script.\"\"\"\nx = 1\n"),
            "'file' is Python source, not a compiled program");
  EXPECT_EQ(message_of_kind("from jax import numpy\n"), "'file' is Python source, not a compiled program");
  EXPECT_EQ(message_of_kind("[1, 2]"), "'file' is JSON, not HLO text");
  EXPECT_EQ(message_of_kind("{\"hloModule\": {}}"), "'file' is an HLO proto as JSON");
  EXPECT_EQ(message_of_kind("a: 1\n"), "'file' is YAML, not HLO text");
  EXPECT_EQ(message_of_kind(std::string("PK\x03\x04", 4)).find("'file' is a zip archive"), 0u);
  EXPECT_EQ(message_of_kind("\x89PNG"), "'file' is a picture, not a program");
}

TEST(OtherKinds, ProfilesAreSentToTheProfileCommand) {
  // An XSpace with one plane: its number, then its name.
  const std::string plane = std::string("\x08\x01\x12\x0d", 4) + "/device:TPU:0";
  const std::string space = std::string("\n") + static_cast<char>(plane.size()) + plane;
  EXPECT_TRUE(looks_like_xplane(space));
  const Result<SourcePtr> text = as_text(source_of(space));
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, "'file' is a profile (XSpace), not a program");
  EXPECT_EQ(text.error().hint, "hlosim profile file --module=module.hlo --device=v5e");
  // A module of that name is none: its name is field 1 of the module.
  const std::string module = std::string("\x0a\x0d", 2) + "/device:TPU:0";
  EXPECT_FALSE(looks_like_xplane(std::string("\n") + static_cast<char>(module.size()) + module));
  EXPECT_FALSE(looks_like_xplane("\n"));
  EXPECT_FALSE(looks_like_xplane(""));
}

}  // namespace
}  // namespace hlosim
