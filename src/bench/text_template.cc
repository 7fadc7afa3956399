// SPDX-License-Identifier: Apache-2.0
// Actions and their arithmetic, which is Go's: everything in float64, cut to int at the end.
#include "bench/text_template.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <utility>

namespace berth::bench {

Result<TextTemplate> TextTemplate::Parse(std::string_view text) {
  TextTemplate out;
  for (;;) {
    const size_t open = text.find("{{");
    out.literals_.back() += text.substr(0, open);
    if (open == std::string_view::npos) return out;
    const size_t close = text.find("}}", open);
    if (close == std::string_view::npos) return Error("{{ without }}");
    Result<Action> action = ParseAction(std::string(text.substr(open + 2, close - open - 2)));
    if (!action.ok()) return action.error();
    out.actions_.push_back(std::move(action).value());
    out.literals_.emplace_back();
    text.remove_prefix(close + 2);
  }
}

Result<TextTemplate::Action> TextTemplate::ParseAction(const std::string& text) {
  Action action;
  action.text = "{{" + text + "}}";
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    Operand operand;
    const char* end = word.data() + word.size();
    if (word == ".Index") {
      operand.kind = Operand::Kind::kIndex;
    } else if (word == ".Count") {
      operand.kind = Operand::Kind::kCount;
    } else if (const auto [stop, failure] = std::from_chars(word.data(), end, operand.number);
               failure != std::errc() || stop != end) {
      if (!action.function.empty() || !action.operands.empty())
        return Error(action.text + ": \"" + word + "\" is not a number, .Index or .Count");
      action.function = word;
      continue;
    }
    action.operands.push_back(operand);
  }
  const std::string& f = action.function;
  const bool pair = f == "SubtractInt" || f == "SubtractFloat" || f == "DivideInt" || f == "DivideFloat" || f == "Mod";
  const bool any = f == "AddInt" || f == "AddFloat" || f == "MultiplyInt" || f == "MultiplyFloat";
  if (f.empty() ? action.operands.size() != 1 : pair ? action.operands.size() != 2 : any && action.operands.empty())
    return Error(action.text + ": wrong number of operands");
  if (!f.empty() && !pair && !any) return Error(action.text + ": unknown function \"" + f + "\"");
  return action;
}

Result<std::string> TextTemplate::Run(const Action& action, int64_t index, int64_t count) {
  std::vector<double> values;
  for (const Operand& operand : action.operands)
    values.push_back(operand.kind == Operand::Kind::kIndex   ? static_cast<double>(index)
                     : operand.kind == Operand::Kind::kCount ? static_cast<double>(count)
                                                             : operand.number);
  const std::string& f = action.function;
  double result = values[0];
  if (f.starts_with("Divide") || f == "Mod") {
    if (f == "Mod")
      std::transform(values.begin(), values.end(), values.begin(), [](double v) { return std::trunc(v); });
    if (values[1] == 0) return Error(action.text + ": division by zero");
    result = f == "Mod" ? std::fmod(values[0], values[1]) : values[0] / values[1];
  } else {
    for (size_t i = 1; i < values.size(); ++i) {
      if (f.starts_with("Add")) result += values[i];
      if (f.starts_with("Subtract")) result -= values[i];
      if (f.starts_with("Multiply")) result *= values[i];
    }
  }
  if (f.ends_with("Int") || f == "Mod") result = std::trunc(result);
  if (std::abs(result) > 1e15) return Error(action.text + ": the result is too large");
  char text[64];
  const auto end = result == std::trunc(result) ? std::to_chars(text, text + sizeof text, static_cast<int64_t>(result))
                                                : std::to_chars(text, text + sizeof text, result);
  return std::string(text, end.ptr);
}

Result<std::string> TextTemplate::Render(int64_t index, int64_t count) const {
  std::string out = literals_[0];
  for (size_t i = 0; i < actions_.size(); ++i) {
    const Result<std::string> part = Run(actions_[i], index, count);
    if (!part.ok()) return part.error();
    out += *part + literals_[i + 1];
  }
  return out;
}

}  // namespace berth::bench
