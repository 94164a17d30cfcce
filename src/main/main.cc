#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "cli/run.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
  const int code = hlosim::run(args, std::cin, std::cout, std::cerr);
  std::cout.flush();
  if (!std::cout) {
    std::cerr << "hlosim: can't write to standard output\n";
    return code != 0 ? code : hlosim::kExitInput;
  }
  return code;
}
