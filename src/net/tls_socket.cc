// SPDX-License-Identifier: Apache-2.0
#include "net/tls_socket.h"

#include <openssl/bio.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace berth::net {
namespace {

struct Socket {
  int fd = -1;
  bool keeps_buffer = false;  // also while nothing is there: for a few connections that are busy
  bool waits = false;         // whoever is told to wait does
  // The last read did not fill its buffer, so it has left nothing, and whoever reads on is told to wait without a
  // system call that would say the same.
  bool drained = false;
  bool ended = false;
  std::unique_ptr<char[]> buffer;
  size_t begin = 0, end = 0;  // what of the buffer is to be handed on
};
constexpr size_t kReadAhead = size_t{64} << 10;

Socket& SocketOf(BIO* bio) { return *static_cast<Socket*>(BIO_get_data(bio)); }

int SocketWrite(BIO* bio, const char* data, int size) {
  BIO_clear_retry_flags(bio);
  ssize_t count = 0;
  do {
    count = ::send(SocketOf(bio).fd, data, static_cast<size_t>(size), MSG_NOSIGNAL);
  } while (count < 0 && errno == EINTR);
  if (count < 0 && errno == EAGAIN) BIO_set_retry_write(bio);
  return static_cast<int>(count);
}

// As recv, for a buffer of that size.
ssize_t Receive(Socket& socket, char* data, size_t size) {
  if (std::exchange(socket.drained, false)) {
    errno = EAGAIN;
    return -1;
  }
  ssize_t count = 0;
  do {
    count = ::recv(socket.fd, data, size, 0);
  } while (count < 0 && errno == EINTR);
  socket.drained = socket.waits && count > 0 && static_cast<size_t>(count) < size;
  socket.ended = socket.ended || count == 0;
  return count;
}

int SocketRead(BIO* bio, char* data, int size) {
  BIO_clear_retry_flags(bio);
  Socket& socket = SocketOf(bio);
  const auto room = static_cast<size_t>(size);
  if (socket.begin == socket.end) {
    ssize_t count = 0;
    if (room >= kReadAhead) {
      count = Receive(socket, data, room);
    } else {
      // Not filled with zeros for nothing; and nothing may be thrown through OpenSSL.
      if (!socket.buffer) socket.buffer.reset(new (std::nothrow) char[kReadAhead]);
      if (!socket.buffer) {
        errno = ENOMEM;
        return -1;
      }
      count = Receive(socket, socket.buffer.get(), kReadAhead);
    }
    if (count <= 0) {
      if (count < 0 && errno == EAGAIN) BIO_set_retry_read(bio);
      if (!socket.keeps_buffer) socket.buffer.reset();
      return static_cast<int>(count);
    }
    if (room >= kReadAhead) return static_cast<int>(count);
    socket.begin = 0;
    socket.end = static_cast<size_t>(count);
  }
  const size_t count = std::min(room, socket.end - socket.begin);
  std::memcpy(data, socket.buffer.get() + socket.begin, count);
  socket.begin += count;
  return static_cast<int>(count);
}

long SocketControl(BIO* bio, int command, long, void*) {
  const Socket& socket = SocketOf(bio);
  if (command == BIO_CTRL_FLUSH) return 1;
  if (command == BIO_CTRL_EOF) return socket.ended && socket.begin == socket.end ? 1 : 0;
  return 0;
}

int SocketDestroy(BIO* bio) {
  delete static_cast<Socket*>(BIO_get_data(bio));
  BIO_set_data(bio, nullptr);
  return 1;
}

const BIO_METHOD* SocketMethod() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    BIO_meth_set_write(made, SocketWrite);
    BIO_meth_set_read(made, SocketRead);
    BIO_meth_set_ctrl(made, SocketControl);
    BIO_meth_set_destroy(made, SocketDestroy);
    return made;
  }();
  return method;
}

}  // namespace

BIO* NewSocketBio(int fd, bool keeps_buffer) {
  auto socket = std::make_unique<Socket>();
  socket->fd = fd;
  socket->keeps_buffer = keeps_buffer;
  BIO* bio = BIO_new(SocketMethod());
  if (bio == nullptr) return nullptr;
  BIO_set_data(bio, socket.release());
  BIO_set_init(bio, 1);
  return bio;
}

int DescriptorOf(BIO* bio) { return SocketOf(bio).fd; }

void BioWaitsWhenTold(BIO* bio) { SocketOf(bio).waits = true; }

}  // namespace berth::net
