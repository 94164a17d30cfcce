// What spreading a program over a mesh costs: bytes and time along each axis and of each kind of collective,
// and who asked for it.
//
//   const SpreadReport spread = make_spread_report(module, op_table(), estimate);
//   spread.uses[0].axes                            // "fsdp"
//   std::cout << spread_text(spread, makespan, 10)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "estimate/estimate.h"

namespace hlosim {

/// Collectives of one kind along the same axes, all their executions together.
struct AxisUse {
  std::string axes;  // as AxisNames says; empty: the mesh has no names
  std::string kind;  // "all-gather"
  int64_t executions = 0;
  Bytes sent{};  // by one device, scalars included
  Picoseconds takes{}, hidden{}, exposed{};
};

/// A collective that was put in because an operand lay otherwise than it was needed.
struct ReportResharding {
  std::string collective, kind, axes;  // its name as it runs, or as it was put in
  std::string asked_by, source;        // source: "model.py:12"; empty: unknown
  std::string what, from, to;
  Bytes bytes{};           // that a device sends each time
  int64_t executions = 0;  // 0: it was merged with others, or rewritten
  Picoseconds takes{}, exposed{};
};

/// Work that every device does as a whole, of one opcode and for one reason.
struct ReplicatedReport {
  std::string what;  // "custom-call.3", "custom-call.3 and 5 more"
  std::string reason;
  int64_t instructions = 0;
  Picoseconds time{};  // of all their executions
};

struct SpreadReport {
  std::string mesh;  // "fsdp=16,tensor=4"; empty: no names
  bool was_partitioned = false;
  std::vector<AxisUse> uses;                  // by axes in the order of the run, then by kind
  std::vector<ReportResharding> reshardings;  // the longest first
  std::vector<ReplicatedReport> replicated;   // the longest first
};

/// `given`: the module before it was partitioned. Requires: estimate.spread.
SpreadReport make_spread_report(const Module& given, const OpTable& table, const Estimate& estimate);

/// Sections of a report for people. `top`: rows of the list of reshardings; 0: all.
std::string spread_text(const SpreadReport& spread, Picoseconds makespan, size_t top);

}  // namespace hlosim
