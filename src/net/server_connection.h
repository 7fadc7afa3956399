// SPDX-License-Identifier: Apache-2.0
// ServerConnection: one client of an HttpServer, from its first byte to its last. For http_server.cc alone.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>

#include "net/connection_table.h"
#include "net/event_loop.h"
#include "net/http.h"
#include "net/http_parser.h"
#include "net/http_server.h"
#include "net/stream.h"
#include "net/task.h"
#include "net/tls.h"

namespace berth::net {

// What bodies and answers may take together, and take.
struct ByteBudget {
  explicit ByteBudget(uint64_t bytes) : most(bytes) {}
  const uint64_t most;
  std::atomic<uint64_t> used{0};
};

// A request's share of it: its body's and then its answer's. Thread safety: one thread at a time.
class ByteCharge {
 public:
  explicit ByteCharge(std::shared_ptr<ByteBudget> budget) : budget_(std::move(budget)) {}
  ~ByteCharge() { budget_->used -= bytes_; }
  ByteCharge(const ByteCharge&) = delete;
  ByteCharge& operator=(const ByteCharge&) = delete;

  bool GrowTo(uint64_t bytes) { return bytes <= bytes_ || Set(bytes); }
  // False, and as before, if there is not so much; less there always is. Nobody else sees what is asked for in vain.
  bool Set(uint64_t bytes) {
    if (bytes > bytes_) {
      const uint64_t more = bytes - bytes_;
      uint64_t used = budget_->used;
      do {
        if (used + more > budget_->most) return false;
      } while (!budget_->used.compare_exchange_weak(used, used + more));
      bytes_ = bytes;
      return true;
    }
    Insist(bytes);
    return true;
  }
  // The same for what must have room, whoever else has how much.
  void Insist(uint64_t bytes) {
    budget_->used += bytes - bytes_;  // wraps around where it is less
    bytes_ = bytes;
  }

 private:
  const std::shared_ptr<ByteBudget> budget_;  // answers may come when the server is gone
  uint64_t bytes_ = 0;
};

// What all connections of a server share.
struct ServerShared {
  ServerShared(const ServerOptions& options_in, Handler handler_in);

  const ServerOptions options;  // without tls, which is the caller's
  const Handler handler;
  std::shared_ptr<TlsContext> tls;
  ConnectionTable table;
  const std::shared_ptr<ByteBudget> budget;
  std::atomic<bool> draining{false};
  // Called on any thread when much memory was given back.
  std::function<void()> on_freed;

  // Memory for the next large body. Getting it from the kernel page by page takes longer than reading the body.
  static constexpr size_t kMinSpare = size_t{64} << 10, kMaxSpare = size_t{64} << 20;
  std::mutex spare_mutex;
  std::string spare;
  // Empty if there is none that has room for so much.
  std::string TakeSpare(uint64_t length) {
    if (length < kMinSpare) return {};
    const std::lock_guard lock(spare_mutex);
    return spare.capacity() >= length + kBodyPadding ? std::exchange(spare, {}) : std::string();
  }
  void GiveSpare(std::string body) {
    if (body.capacity() < kMinSpare || body.capacity() > kMaxSpare) return;
    const std::lock_guard lock(spare_mutex);
    if (body.capacity() > spare.capacity()) spare.swap(body);
  }

  std::mutex mutex;
  std::condition_variable ended;
  size_t tasks = 0;  // under mutex: connections, and the one that accepts

  void Begin() {
    const std::lock_guard lock(mutex);
    ++tasks;
  }
  void End() {
    const std::lock_guard lock(mutex);
    --tasks;
    ended.notify_all();
  }
};

class ServerConnection;

struct ServerWorker {
  std::shared_ptr<EventLoop> loop = std::make_shared<EventLoop>();
  // The loop's thread only.
  std::unordered_set<ServerConnection*> connections;
  bool stopping = false;
};

struct AnswerSlot;

// One client. Owns itself: Run ends with its deletion.
class ServerConnection {
 public:
  ServerConnection(ServerShared* shared, ServerWorker* worker, int fd);
  ~ServerConnection();
  ServerConnection(const ServerConnection&) = delete;
  ServerConnection& operator=(const ServerConnection&) = delete;

  Detached Run();
  // Ends it soon, whatever it does.
  void Abort();
  void CloseIfIdle() {
    if (idle_) stream_.watch().Cancel();
  }

 private:
  Task<void> Serve();
  Task<bool> StartTls();
  // 0, a status to refuse with, or kGone.
  Task<int> ReadHead(MessageParser* parser, bool first);
  // The same for a request whose head is there; a guest's connection is closed once it is answered.
  int Admit(const MessageHead& head, bool whole, bool* guest);
  int CheckHead(const MessageHead& head, HttpRequest* request);
  Task<int> ReceiveBody(MessageParser* parser, HttpRequest* request, ByteCharge* charge);
  Task<int> ReceiveChunks(MessageParser* parser, HttpRequest* request, ByteCharge* charge);
  Task<void> Refuse(int status, bool head_only);
  Task<bool> Reply(const HttpResponse* response, bool head_only, bool keep, bool old_client);
  Task<void> Linger();

  ServerShared* const shared_;
  ServerWorker* const worker_;
  Stream stream_;
  InputBuffer input_;
  ConnectionTable::Place place_;
  std::string client_name_;
  std::shared_ptr<const PeerCertificates> peer_;
  std::string problem_;  // what a refusal says
  std::shared_ptr<AnswerSlot> slot_;
  bool idle_ = true;
};

}  // namespace berth::net
