#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "base/units.h"
#include "cli/run.h"

// Prints a duration, and what the program itself says of its version.
int main() {
  std::cout << hlosim::to_text(hlosim::duration(hlosim::Bytes(1000), hlosim::BytesPerSecond(1e9))) << '\n';
  const std::vector<std::string> args = {"--version"};
  std::istringstream in;
  return hlosim::run(args, in, std::cout, std::cerr);
}
