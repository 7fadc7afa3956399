// SPDX-License-Identifier: Apache-2.0
// AnswerOnce: a callback for somebody who may call it twice, or lose it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

namespace berth::util {

// Of all calls of all copies the first is heard. When the last copy goes without any call, `dropped` is called with the
// answer, to give one in its place or do something else, so that nobody waits forever for what will not come. Either
// of them is called once in all, on the thread that calls or drops, and what both hold is let go after that.
//
// Thread safety: any thread. REQUIRES: `dropped` does not throw; it may run in a destructor.
template <class... Args>
class AnswerOnce {
 public:
  using Answer = std::function<void(Args...)>;
  using Dropped = std::function<void(const Answer&)>;

  explicit AnswerOnce(Answer answer, Dropped dropped = nullptr)
      : state_(std::make_shared<State>(std::move(answer), std::move(dropped))) {}

  void operator()(Args... args) const {
    if (state_->given.exchange(true)) return;
    const Answer answer = std::move(state_->answer);
    state_->dropped = nullptr;
    answer(std::forward<Args>(args)...);
  }
  // No answer is wanted any more, nor word of its loss.
  void Withdraw() const {
    if (state_->given.exchange(true)) return;
    state_->answer = nullptr;
    state_->dropped = nullptr;
  }

 private:
  struct State {
    State(Answer a, Dropped d) : answer(std::move(a)), dropped(std::move(d)) {}
    ~State() {
      if (!given.exchange(true) && dropped) dropped(answer);
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    std::atomic<bool> given = false;  // whoever sets it owns the rest
    Answer answer;
    Dropped dropped;
  };
  std::shared_ptr<State> state_;
};

}  // namespace berth::util
