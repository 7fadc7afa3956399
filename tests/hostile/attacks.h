// SPDX-License-Identifier: Apache-2.0
// The attacks, one function each. Each says to the report what passed and what failed.
#pragma once

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "target.h"
#include "util/random.h"

namespace berth::hostile {

class Report {
 public:
  explicit Report(std::ostream& out) : out_(out) {}
  // `problem`: empty if it passed.
  void Add(const std::string& name, const std::string& problem);
  int passed() const { return passed_; }
  int failed() const { return failed_; }

 private:
  std::ostream& out_;
  int passed_ = 0, failed_ = 0;
};

struct Plan {
  std::vector<std::string> paths = {"/filter", "/prioritize", "/bind"};  // that take a POST
  std::chrono::milliseconds time{5'000};                                 // of an attack that could go on for ever
  size_t connections = 4'500;  // of attacks by number: more than a server takes
};

// Malformed HTTP, each shape on a connection of its own.
void AttackWithShapes(const Target& target, const Plan& plan, Report& report);
// Sessions that do not begin, on bare sockets.
void AttackHandshakes(const Target& target, Report& report);
// Bodies that were right once.
void AttackWithMutations(const Target& target, const Plan& plan, util::Random& random, Report& report);
// More connections than the server takes: silent, idle after an answer, and gone.
void AttackByNumber(const Target& target, const Plan& plan, util::Random& random, Report& report);
// Large replies that nobody reads; afterwards the memory must come back.
void AttackUnread(const Target& target, const Plan& plan, Report& report);
// A byte now and then.
void AttackSlowly(const Target& target, const Plan& plan, Report& report);
// Many requests at once on one connection.
void AttackInARow(const Target& target, const Plan& plan, Report& report);

}  // namespace berth::hostile
