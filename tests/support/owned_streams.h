// The streams of a command, with everything that they refer to, for tests that call functions of commands.
//
//   test::OwnedStreams streams;
//   const ModuleInput input = read_module_input(path, false, streams.get());
//   EXPECT_TRUE(input.ok) << streams.errors();
#pragma once

#include <sstream>
#include <string>

#include "console/streams.h"
#include "console/verbosity.h"

namespace hlosim::test {

/// Standard input is empty; the defaults of every common option; one rank.
class OwnedStreams {
 public:
  OwnedStreams() = default;
  OwnedStreams(const OwnedStreams&) = delete;
  OwnedStreams& operator=(const OwnedStreams&) = delete;

  /// Valid as long as this object.
  Streams get() {
    return {in_,     out_,  err_,  lone_rank(), standard_input_, verbosity_,
            limits_, stop_, mlir_, partial_,    files_};
  }
  std::string errors() const { return err_.str(); }

 private:
  std::istringstream in_;
  std::ostringstream out_, err_;
  SourcePtr standard_input_;
  Verbosity verbosity_;
  Limits limits_;
  Stop stop_;
  stablehlo::ConvertOptions mlir_;
  bool partial_ = false;
  FilesInUse files_;
};

}  // namespace hlosim::test
