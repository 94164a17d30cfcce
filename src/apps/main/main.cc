#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/malloc_tuning.h"
#include "cli/run.h"

namespace {

/// Wrong input on one rank ends them all.
int end_together(hlosim::Ranks& ranks, int code) {
  std::string problem;
  if (code == hlosim::kExitInput)
    problem = "ends the run";
  else if (const hlosim::Result<void> finished = ranks.finish(); !finished)
    problem = finished.error().message;
  if (problem.empty()) return code;
  std::cerr << "hlosim: rank " << ranks.rank() << " of " << ranks.size() << ": " << problem << std::endl;
  ranks.abandon(hlosim::kExitInput);
  return hlosim::kExitInput;
}

}  // namespace

int main(int argc, char** argv) {
  hlosim::keep_freed_memory();
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (hlosim::mpirun_without_mpi_support()) {
    std::cerr
        << "hlosim: error: started by mpirun, but built without MPI\n  hint: apt-get install libopenmpi-dev, "
           "and build again\n";
    return hlosim::kExitInput;
  }
  const std::unique_ptr<hlosim::Ranks> together = hlosim::launched_ranks();
  hlosim::Ranks& ranks = together ? *together : hlosim::lone_rank();
  const int code = hlosim::run(args, std::cin, std::cout, std::cerr, ranks);
  std::cout.flush();
  if (ranks.size() > 1) return end_together(ranks, code);
  if (!std::cout) {
    std::cerr << "hlosim: can't write to standard output\n";
    return code != 0 ? code : hlosim::kExitInput;
  }
  return code;
}
