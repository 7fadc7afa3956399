// SPDX-License-Identifier: Apache-2.0
// TextTemplate: the part of Go's text templates that scheduler_perf's files use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/error.h"

namespace berth::bench {

// Text with actions {{.Index}}, {{.Count}} and {{Function operand operand…}}, where an operand is a number, .Index or
// .Count, and Function one of AddInt, SubtractInt, MultiplyInt, DivideInt, AddFloat, SubtractFloat, MultiplyFloat,
// DivideFloat, Mod. Anything else in braces is an error that names it.
class TextTemplate {
 public:
  static Result<TextTemplate> Parse(std::string_view text);

  // It has no action: every rendering is the text itself.
  bool constant() const { return actions_.empty(); }
  // The error is a division by zero.
  Result<std::string> Render(int64_t index, int64_t count) const;

 private:
  struct Operand {
    enum class Kind : uint8_t { kNumber, kIndex, kCount } kind = Kind::kNumber;
    double number = 0;
  };
  struct Action {
    std::string text;      // as written, for complaints
    std::string function;  // empty: the operand itself
    std::vector<Operand> operands;
  };
  static Result<Action> ParseAction(const std::string& text);
  static Result<std::string> Run(const Action& action, int64_t index, int64_t count);

  std::vector<std::string> literals_{""};  // one more than actions
  std::vector<Action> actions_;
};

}  // namespace berth::bench
