// SPDX-License-Identifier: Apache-2.0
// Verdicts: what a plugin says of a pod, or of a pod on a node. A rejection is data, not an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth {
inline namespace v1 {

// kube-scheduler's status codes, values and names alike.
enum class Code : uint8_t {
  kSuccess = 0,
  kError = 1,
  kUnschedulable = 2,                 // rejected; evicting pods may help
  kUnschedulableAndUnresolvable = 3,  // rejected; evicting pods cannot help on this node
  kWait = 4,                          // Permit only
  kSkip = 5,                          // Bind, PreFilter, PreScore, PreBind pre-flight only
  kPending = 6,                       // rejected, and retried without backoff
};
std::string_view ToString(Code code);
inline bool IsRejected(Code code) {
  return code == Code::kUnschedulable || code == Code::kUnschedulableAndUnresolvable || code == Code::kPending;
}

// Whether taking pods off the node could turn the rejection around.
enum class Remedy : uint8_t { kPreempt, kNone };

// A reason known at compile time. Its text is what operators read in events, counted over nodes.
struct Reason {
  std::string_view text;
  Remedy remedy = Remedy::kPreempt;
  constexpr Code code() const {
    return remedy == Remedy::kPreempt ? Code::kUnschedulable : Code::kUnschedulableAndUnresolvable;
  }
};
inline constexpr Reason kFits{};

// The outcome of one question, with its reasons as texts. Cheap when it fits.
class Verdict {
 public:
  Verdict() = default;
  Verdict(const Reason& reason) {  // NOLINT: implicit on purpose, `return kTooHot;`
    if (!reason.text.empty()) *this = Verdict(reason.code(), std::string(reason.text));
  }
  Verdict(Code code, std::string reason) : code_(code) { reasons_.push_back(std::move(reason)); }
  Verdict(Code code, std::vector<std::string> reasons) : code_(code), reasons_(std::move(reasons)) {}
  static Verdict Fail(std::string text) { return Verdict(Code::kError, std::move(text)); }
  static Verdict Skip() { return Verdict(Code::kSkip, std::vector<std::string>{}); }

  Code code() const { return code_; }
  bool fits() const { return code_ == Code::kSuccess; }
  bool rejected() const { return IsRejected(code_); }
  const std::vector<std::string>& reasons() const { return reasons_; }
  std::string message() const;  // reasons joined by ", "
  bool operator==(const Verdict&) const = default;

 private:
  Code code_ = Code::kSuccess;
  std::vector<std::string> reasons_;
};

// A small integer for a (code, reasons) pair; 0 means the pod fits. Ids are what per-node results are stored as, so
// that "0/5000 nodes are available: …" is counted without a string per node.
using VerdictId = uint32_t;
inline constexpr VerdictId kFitsId = 0;

}  // namespace v1
}  // namespace berth
