// SPDX-License-Identifier: Apache-2.0
// A client without a thread: it works in the turns that its owner gives it, and leaves unread what may wait.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "net/http_client.h"
#include "net/http_client_test_util.h"
#include "util/inbox.h"

namespace berth::net {
namespace {

TEST(HttpClientGuest, WorksInTheTurnsOfItsOwner) {
  const auto server = Serve();
  ClientOptions options;
  options.own_thread = false;
  options.gather = Duration::Millis(1);
  auto client = ClientOf(server->port(), options);
  util::Inbox inbox;
  inbox.set_guest(&client->guest());
  std::string said;
  const std::thread::id here = std::this_thread::get_id();
  for (int i = 0; i < 50; ++i) {
    client->Send(Request("GET", "/" + std::to_string(i)), [&](const Result<HttpResponse>& response) {
      EXPECT_EQ(std::this_thread::get_id(), here);
      inbox.Post([&, text = Text(response)] { said = text; });
    });
    while (said.empty()) {
      ASSERT_TRUE(inbox.WaitFor(std::chrono::seconds(60)));
      inbox.Drain();
    }
    EXPECT_EQ(std::exchange(said, ""), "GET /" + std::to_string(i) + "? ");
  }
  // What others post, to the client or to the inbox, wakes the thread that sleeps in a turn.
  for (const bool to_client : {true, false}) {
    const auto letter = [&] { said = "posted"; };
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      to_client ? client->Post([&] { inbox.Post(letter); }) : inbox.Post(letter);
    });
    const auto began = std::chrono::steady_clock::now();
    EXPECT_TRUE(inbox.WaitFor(std::chrono::seconds(60)));
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30)) << "nobody has woken it";
    other.join();
    inbox.Drain();
    EXPECT_EQ(std::exchange(said, ""), "posted");
  }
  inbox.set_guest(nullptr);
}

TEST(HttpClientGuest, OnlyThePatientAreMadeToWaitForNewsAndNotWhileTheyFindNoRoom) {
  std::mutex mutex;
  int asked = 0;
  Respond last;
  const auto server = Serve([&](const HttpRequest&, const Respond& respond) {
    const std::lock_guard lock(mutex);
    if (++asked == 4) {
      last = respond;
    } else {
      respond({});
    }
  });
  const auto has_last = [&] {
    const std::lock_guard lock(mutex);
    return last != nullptr;
  };
  ClientOptions options;
  options.own_thread = false;
  options.gather = Duration::Millis(1);
  options.max_connections = 1;
  util::Inbox inbox;  // outlives the client, whose end answers what is left
  int answered = 0;
  const auto client = ClientOf(server->port(), options);
  inbox.set_guest(&client->guest());
  const auto send = [&](bool patient) {
    ClientRequest request = Request("GET", "/");
    request.patient = patient;
    client->Send(std::move(request), [&](const Result<HttpResponse>& response) {
      EXPECT_TRUE(response.ok());
      inbox.Post([&] { ++answered; });
    });
  };
  const auto wait_for = [&](int count, std::chrono::seconds patience) {
    while (answered < count && inbox.WaitFor(std::chrono::seconds(60), patience)) inbox.Drain();
    EXPECT_EQ(answered, count);
  };
  const auto began = std::chrono::steady_clock::now();
  send(false);
  wait_for(1, std::chrono::hours(1));
  for (int i = 0; i < 3; ++i) send(true);
  wait_for(3, std::chrono::hours(1));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30));
  // The last one may have found room, or find it in the next turns. Its answer waits for us.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!has_last() && std::chrono::steady_clock::now() < until)
    EXPECT_FALSE(inbox.WaitFor(std::chrono::milliseconds(1), std::chrono::hours(1)));
  ASSERT_TRUE(has_last());
  last({});
  // Nobody is in a hurry for that one.
  EXPECT_FALSE(inbox.WaitFor(std::chrono::milliseconds(50), std::chrono::hours(1)));
  wait_for(4, {});
  inbox.set_guest(nullptr);
}

TEST(HttpClientGuest, WhatIsSentAgainOnANewConnectionIsNotMadeToWaitForNews) {
  const auto [listener, port] = ListenAnywhere();
  std::atomic<bool> sent_again = false;
  std::promise<void> answer_it;
  std::thread server([&, fd = listener] {
    const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    char data[4096];
    const int kept = ::accept(fd, nullptr, nullptr);
    [[maybe_unused]] ssize_t heard = ::recv(kept, data, sizeof(data), 0);
    ::send(kept, answer.data(), answer.size(), MSG_NOSIGNAL);
    heard = ::recv(kept, data, sizeof(data), 0);
    ::close(kept);
    const int fresh = ::accept(fd, nullptr, nullptr);
    heard = ::recv(fresh, data, sizeof(data), 0);
    sent_again = true;
    answer_it.get_future().wait();
    ::send(fresh, answer.data(), answer.size(), MSG_NOSIGNAL);
    while (::recv(fresh, data, sizeof(data), 0) > 0) continue;
    ::close(fresh);
  });
  int answered = 0;
  ClientOptions options;
  options.own_thread = false;
  options.gather = Duration::Millis(1);
  auto client = ClientOf(port, options);
  SendPatiently(*client, Request("GET", "/"), answered);
  EXPECT_TRUE(TakeTurns(*client, {}, [&] { return answered == 1; }));
  SendPatiently(*client, Request("GET", "/"), answered);
  EXPECT_TRUE(TakeTurns(*client, {}, [&] { return sent_again.load(); }));
  answer_it.set_value();
  EXPECT_TRUE(TakeTurns(*client, std::chrono::hours(1), [&] { return answered == 2; }));
  client = nullptr;
  ::shutdown(listener, SHUT_RDWR);
  server.join();
  ::close(listener);
}

TEST(HttpClientGuest, TurnsInARowLeaveNoDebtToASleeper) {
  ClientOptions options;
  options.url = "http://127.0.0.1:1";
  options.own_thread = false;
  options.gather = Duration::Millis(500);
  const auto client = ClientOf(0, options);
  util::Inbox::Guest& guest = client->guest();
  for (int i = 0; i < 100; ++i) guest.Turn(std::chrono::milliseconds(1), {});
  // Nothing is as far away as a hundred times the spacing, and a letter waits for none of it.
  bool posted = false;
  client->Post([&] { posted = true; });
  auto began = std::chrono::steady_clock::now();
  guest.Turn(std::chrono::seconds(60), {});
  EXPECT_TRUE(posted);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
  std::thread other([&] { guest.Wake(); });
  other.join();
  began = std::chrono::steady_clock::now();
  guest.Turn(std::chrono::seconds(60), {});
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
}

TEST(HttpClientGuest, ItsEndAnswersWhatIsUnderWay) {
  std::mutex mutex;
  std::vector<Respond> held;
  const auto server = Serve([&](const HttpRequest&, const Respond& respond) {
    const std::lock_guard lock(mutex);
    held.push_back(respond);
  });
  ClientOptions options;
  options.own_thread = false;
  auto client = ClientOf(server->port(), options);
  int answered = 0;
  const auto count = [&](const Result<HttpResponse>& response) {
    EXPECT_FALSE(response.ok());
    ++answered;
  };
  client->Send(Request("GET", "/"), count);
  const auto asked = [&] {
    const std::lock_guard lock(mutex);
    return !held.empty();
  };
  while (!asked()) client->guest().Turn(std::chrono::milliseconds(1), {});
  client->Send(Request("GET", "/never"), count);  // has had no turn
  client = nullptr;
  EXPECT_EQ(answered, 2);
}

}  // namespace
}  // namespace berth::net
