// SPDX-License-Identifier: Apache-2.0
// Any bytes as what a server of HTTP/2 says, while the client opens streams, sends bodies and gives streams up, also
// within what it is told. Nobody hears of a stream that was given up, what is to be sent is bounded and itself HTTP/2,
// and how the bytes are cut does not matter.
//
// The first four bytes choose: what the bytes are and how they are cut, which streams there are, what is done with
// them, and when. The rest is said by the server, after SETTINGS of its own: as it is, or as frames whose heads are
// shorter.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/client_exchange.h"
#include "net/http2_frames.h"

namespace {

using berth::Error;
using berth::net::Exchange;
using berth::net::Http2Code;
using berth::net::Http2Frames;

constexpr size_t kFrameHead = 9, kMaxReplies = size_t{64} << 10, kExchanges = 6, kMostActions = 100;

void Require(bool holds) {
  if (!holds) std::abort();
}

// First byte of the input.
enum Choice : uint8_t { kNoSettings = 1, kRaw = 2, kSmallWindows = 4, kNoOutputTaken = 8, kAgain = 16 };

struct Plan {
  uint8_t choice = 0, streams = 0, actions = 0, rhythm = 0;
  std::string bytes;
};

// Frames from a type, flags, a stream, a length and the payload. Lengths above 250 are for longer ones.
std::string Frames(std::string_view text) {
  std::string frames;
  while (text.size() >= 4) {
    const auto at = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
    const size_t length = at(3) <= 250 ? at(3) : (at(3) - 250) * size_t{4000};
    const std::string_view payload = text.substr(4, length);
    const std::string head = {static_cast<char>(length >> 16),
                              static_cast<char>(length >> 8 & 0xff),
                              static_cast<char>(length & 0xff),
                              text[0],
                              text[1],
                              0,
                              0,
                              0,
                              text[2]};
    frames.append(head).append(payload).append(length - payload.size(), '\0');
    text.remove_prefix(4 + payload.size());
  }
  return frames.append(text);
}

Plan PlanOf(std::string_view input) {
  Plan plan;
  for (uint8_t* byte : {&plan.choice, &plan.streams, &plan.actions, &plan.rhythm}) {
    if (input.empty()) break;
    *byte = static_cast<uint8_t>(input[0]);
    input.remove_prefix(1);
  }
  if ((plan.choice & kNoSettings) == 0) plan.bytes = std::string("\0\0\0\4\0\0\0\0\0", kFrameHead);
  const std::string said = (plan.choice & kRaw) != 0 ? std::string(input) : Frames(input);
  plan.bytes += said;
  // More than the client answers to a server that reads nothing.
  if ((plan.choice & kAgain) != 0 && said.size() >= 9 && said.size() < 100) {
    while (plan.bytes.size() < 100'000) plan.bytes += said;
  }
  return plan;
}

// Everything that the client wrote in its life.
void CheckWritten(std::string_view bytes, bool broken) {
  constexpr std::string_view kHello = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  Require(bytes.starts_with(kHello));
  bytes.remove_prefix(kHello.size());
  constexpr int kHeaders = 1, kGoAway = 7, kContinuation = 9;
  bool goes = false, in_head = false;
  while (!bytes.empty()) {
    Require(bytes.size() >= kFrameHead && !goes);
    const auto at = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(bytes[i])); };
    const size_t length = at(0) << 16 | at(1) << 8 | at(2), type = at(3);
    Require(bytes.size() >= kFrameHead + length && type <= kContinuation);
    Require(in_head == (type == kContinuation));
    if (type == kHeaders || type == kContinuation) in_head = (at(4) & 4) == 0;
    goes = type == kGoAway;
    bytes.remove_prefix(kFrameHead + length);
  }
  Require(!in_head && goes == broken);
}

class Client final : private berth::net::Http2FrameListener {
 public:
  Client(const Plan& plan, bool acts)
      : plan_(plan),
        acts_(acts),
        frames_((plan.choice & kSmallWindows) != 0 ? berth::net::Http2FrameLimits{20, 100, 1000}
                                                   : berth::net::Http2FrameLimits{},
                *this) {
    for (size_t i = 0; i < 4; ++i) {
      Open(plan.streams >> i & 1);
      if ((plan.streams >> (4 + i) & 1) == 0) continue;
      if (i % 2 == 0) {
        frames_.Forget(streams_[i].id);
      } else {
        frames_.Reset(streams_[i].id, Http2Code::kCancel);
      }
      streams_[i].live = false;
    }
  }

  // False: it is over.
  bool Receive(std::string_view piece) {
    const size_t before = frames_.output().size();
    const Error error = frames_.Receive(piece);
    replies_ += frames_.output().size() - before;
    // A frame may be above the bound, and a goodbye; and whatever the actions have written.
    Require(replies_ <= kMaxReplies + kMostActions * 17 + 100);
    if (!error.ok()) outcome_ = error.text();
    if (error.ok()) Require(frames_.open_streams() == static_cast<size_t>(Live()));
    return error.ok();
  }

  // Between pieces.
  void Act(uint8_t rhythm) {
    if ((plan_.choice & kNoOutputTaken) == 0 && (rhythm & 1) != 0) Send(frames_.output().size());
    if ((plan_.choice & kNoOutputTaken) == 0 && (rhythm & 2) != 0) Send(frames_.output().size() / 2);
    if ((rhythm & 4) != 0) Open((rhythm & 8) != 0);
    if ((rhythm & 8) == 0) return;
    const std::string body(30'000, 'b');
    for (One& one : streams_) {
      if (!one.live || one.ends) continue;
      const size_t sent = frames_.SendBody(one.id, std::string_view(body).substr(0, 1 + rhythm * size_t{100}));
      Require(sent <= 1 + rhythm * size_t{100} && sent <= 0xffffff);
    }
  }

  std::string Finish() {
    Send(frames_.output().size());
    Require(frames_.output().empty());
    CheckWritten(written_, !outcome_.empty());
    return outcome_ + "\n" + heard_ + "\n" + written_;
  }

 private:
  struct One {
    int32_t id = 0;
    bool ends = false, live = false;
  };

  // Http2Frames never looks into one.
  static Exchange& ExchangeAt(size_t i) {
    static const auto all = [] {
      std::array<std::unique_ptr<Exchange>, kExchanges> made;
      for (auto& one : made) one = std::make_unique<Exchange>(berth::net::ClientRequest{});
      return made;
    }();
    return *all[i];
  }

  void Open(bool ends) {
    if (streams_.size() == kExchanges) return;
    static const std::shared_ptr<const berth::net::CommonHeaders> common = [] {
      berth::net::Headers headers;
      headers.Add("Accept", "application/json");
      return std::make_shared<const berth::net::CommonHeaders>(headers);
    }();
    static const std::string long_path(20'000, 'p');
    const bool is_long = streams_.size() == 1 && (plan_.rhythm & 0x80) != 0;
    const int32_t id = frames_.Open({ends ? "GET" : "POST", "a", "/", is_long ? long_path : "p", common, {}, ""}, ends,
                                    ExchangeAt(streams_.size()));
    if (id == 0) return;
    Require(id == static_cast<int32_t>(2 * streams_.size() + 1));
    streams_.push_back({id, ends, true});
  }

  void Send(size_t bytes) {
    written_ += frames_.output().substr(0, bytes);
    frames_.Sent(bytes);
    if (frames_.output().empty()) replies_ = 0;
  }

  std::ptrdiff_t Live() const { return std::ranges::count(streams_, true, &One::live); }
  One* LiveOf(const Exchange& exchange) {
    for (size_t i = 0; i < streams_.size(); ++i)
      if (&ExchangeAt(i) == &exchange && streams_[i].live) return &streams_[i];
    return nullptr;
  }

  // Somebody is told something: he has to be there. Then he does what he likes.
  void Hear(char what, const Exchange& exchange, bool over = false) {
    One* const one = LiveOf(exchange);
    Require(one != nullptr);
    if (over) one->live = false;
    heard_ += what;
    heard_ += static_cast<char>('0' + one->id);
    React(one);
  }

  void React(One* one) {
    if (!acts_ || actions_ == kMostActions) return;
    const auto choice = static_cast<size_t>(plan_.actions) * (++actions_) / 7 % 16;
    if (one == nullptr || choice >= 10) one = &streams_[choice % streams_.size()];
    switch (choice % 5) {
      case 0:
        frames_.Reset(one->id, Http2Code::kCancel);
        one->live = false;
        break;
      case 1:
        frames_.Forget(one->id);
        one->live = false;
        break;
      case 2:
        frames_.Ping();
        break;
      default:
        break;
    }
  }

  bool IsInHead(const Exchange& exchange) const { return in_head_ && header_of_ == &exchange; }

  void OnHeadersBegin(Exchange& exchange) override {
    Require(!in_head_ || LiveOf(*header_of_) == nullptr);
    header_of_ = &exchange;
    in_head_ = true;
    Hear('b', exchange);
  }
  void OnHeader(Exchange& exchange, const berth::net::HpackField& field) override {
    Require(IsInHead(exchange));
    heard_.append(field.name.substr(0, 100)).append("=").append(field.value.substr(0, 100));
    Hear('h', exchange);
  }
  void OnHeadersEnd(Exchange& exchange, bool) override {
    Require(IsInHead(exchange));
    in_head_ = false;
    Hear('e', exchange);
  }
  void OnData(Exchange& exchange, std::string_view piece) override {
    Require(!piece.empty() && !IsInHead(exchange));
    heard_ += piece.substr(0, 100);
    Hear('d', exchange);
  }
  void OnStreamOver(int32_t stream, Exchange& exchange) override {
    Require(LiveOf(exchange) != nullptr && LiveOf(exchange)->id == stream && !IsInHead(exchange));
    Hear('o', exchange, true);
  }
  void OnStreamReset(Exchange& exchange, uint32_t code) override {
    heard_ += std::to_string(code);
    Hear('r', exchange, true);
  }
  void OnSettings() override {
    heard_ += 's';
    React(nullptr);
  }
  void OnGoAway() override {
    heard_ += 'g';
    React(nullptr);
  }

  const Plan& plan_;
  const bool acts_;
  Http2Frames frames_;
  std::vector<One> streams_;
  const Exchange* header_of_ = nullptr;  // whose head it was last
  bool in_head_ = false;
  size_t actions_ = 0;
  size_t replies_ = 0;  // since all of the output was taken
  std::string heard_, written_, outcome_;
};

// `rhythm` is how the bytes are cut: 0, not at all.
std::string Run(const Plan& plan, uint8_t rhythm, bool acts) {
  Client client(plan, acts);
  std::string_view rest = plan.bytes;
  for (uint8_t turn = rhythm;; turn = static_cast<uint8_t>(turn * 5 + 3)) {
    const size_t size = rhythm == 0 ? rest.size() : std::min<size_t>(rest.size(), turn % 32 == 31 ? 5000 : turn % 32);
    if (!client.Receive(rest.substr(0, size))) break;  // nothing may be said after that
    rest.remove_prefix(size);
    if (rest.empty()) break;
    if (acts) client.Act(turn);
  }
  return client.Finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Plan plan = PlanOf({reinterpret_cast<const char*>(data), size});
  const std::string whole = Run(plan, 0, false);
  Require(Run(plan, plan.rhythm | 1, false) == whole);
  // Another way; long inputs are slow.
  if (plan.bytes.size() < 2000) Require(Run(plan, static_cast<uint8_t>(plan.rhythm ^ 0x55), false) == whole);
  Run(plan, plan.rhythm | 1, true);
  return 0;
}
