// SPDX-License-Identifier: Apache-2.0
#include "util/log_ration.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "util/hash.h"

namespace berth::util {
namespace {

constexpr size_t kMaxMessage = 256;  // bytes that are remembered of one

uint64_t HashOfPlace(const LogRecord& record) {
  return HashMix(Hash64(record.place.file, static_cast<uint64_t>(record.place.line)),
                 static_cast<uint64_t>(record.severity));
}

uint64_t HashOfKind(const LogRecord& record) {
  const uint64_t hash = HashMix(HashOfPlace(record), Hash64(record.logger));
  return HashMix(hash, record.plain ? 0 : Hash64(record.message));
}

// What the line says, but for numbers: those differ whenever something is measured or counted.
uint64_t HashOfTexts(const LogRecord& record) {
  uint64_t hash = HashMix(HashOfKind(record), Hash64(record.message));
  for (const LogField& field : record.fields) {
    hash = HashMix(hash, Hash64(field.key));
    hash = HashMix(hash, Hash64(field.value.ns(), Hash64(field.value.text())));
  }
  return hash;
}

}  // namespace

bool LogRation::Bucket::Take(TimePoint now) {
  const double seconds = std::chrono::duration<double>(now - at_).count();
  if (seconds > 0) {
    tokens_ = std::min(rate_.burst, tokens_ + seconds * rate_.per_second);
    at_ = now;
  }
  if (tokens_ < 1) return false;
  --tokens_;
  return true;
}

LogRation::Kind& LogRation::KindOf(const LogRecord& record, TimePoint now) {
  uint64_t key = HashOfKind(record);
  auto found = kinds_.find(key);
  if (found == kinds_.end() && kinds_.size() >= kMaxKinds) {
    key = HashOfPlace(record);
    found = kinds_.find(key);
  }
  if (found != kinds_.end()) return found->second;
  const bool info = record.severity == LogSeverity::kInfo;
  LeftOut none;
  none.severity = record.severity;
  none.verbosity = record.verbosity;
  none.place = record.place;
  none.logger = record.logger;
  if (!record.plain) none.message = record.message.substr(0, kMaxMessage);
  return kinds_
      .try_emplace(key,
                   Kind{Bucket(info ? kInfo : kProblem, now), Bucket(kNewProblem, now), std::move(none), kinds_.size()})
      .first->second;
}

bool LogRation::Admit(const LogRecord& record, TimePoint now) {
  const bool problem = record.severity != LogSeverity::kInfo;
  const uint64_t texts = problem ? HashOfTexts(record) : 0;
  const std::lock_guard lock(mutex_);
  Kind& kind = KindOf(record, now);
  bool admitted = kind.all.Take(now);
  if (problem) {
    const auto said = said_.find(texts);
    const bool fresh = said == said_.end() || now - said->second >= kNewAfter;
    if (!admitted && fresh) admitted = kind.fresh.Take(now);
    if (admitted) {
      if (said == said_.end() && said_.size() >= kRemembered) said_.clear();
      said_[texts] = now;
    }
  }
  if (admitted) return true;
  ++kind.left_out.lines;
  ++left_out_;
  return false;
}

std::vector<LogRation::LeftOut> LogRation::Take() {
  std::vector<std::pair<size_t, LeftOut>> found;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [key, kind] : kinds_) {
      if (kind.left_out.lines == 0) continue;
      found.emplace_back(kind.order, kind.left_out);
      kind.left_out.lines = 0;
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<LeftOut> left_out;
  for (auto& [order, one] : found) left_out.push_back(std::move(one));
  return left_out;
}

uint64_t LogRation::left_out() const {
  const std::lock_guard lock(mutex_);
  return left_out_;
}

}  // namespace berth::util
