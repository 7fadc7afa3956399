// SPDX-License-Identifier: Apache-2.0
#include "net/http_parser.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "net/http_text.h"

namespace berth::net {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using beast::error_code;

class MessageParser::Base {
 public:
  virtual ~Base() = default;
  virtual size_t Put(std::string_view data, error_code* failure) = 0;
  virtual void FinishHead() = 0;
  virtual bool header_done() const = 0;
  virtual bool done() const = 0;

  MessageHead head;
  const Sink* sink = nullptr;
};

template <bool is_request>
class MessageParser::Impl final : public MessageParser::Base, private http::basic_parser<is_request> {
  using Parser = http::basic_parser<is_request>;
  using View = beast::string_view;

 public:
  explicit Impl(size_t max_header_bytes) {
    this->header_limit(static_cast<uint32_t>(std::min<size_t>(max_header_bytes, UINT32_MAX)));
    this->body_limit(boost::none);
  }

  size_t Put(std::string_view data, error_code* failure) override {
    return this->put(boost::asio::const_buffer(data.data(), data.size()), *failure);
  }
  void FinishHead() override {
    head.keep_alive = this->keep_alive();
    head.chunked = this->chunked();
    if (const auto length = this->content_length()) head.content_length = *length;
    this->eager(true);
  }
  bool header_done() const override { return this->is_header_done(); }
  bool done() const override { return this->is_done(); }

 private:
  void on_request_impl(http::verb, View method, View target, int version, error_code&) override {
    head.method = std::string(method);
    head.target = std::string(target);
    head.minor_version = version % 10;
  }
  void on_response_impl(int code, View, int version, error_code&) override {
    head.status = code;
    head.minor_version = version % 10;
  }
  void on_field_impl(http::field, View name, View value, error_code&) override {
    if (!this->is_header_done()) head.headers.Add(std::string(name), std::string(value));
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<uint64_t>&, error_code&) override {}
  size_t on_body_impl(View body, error_code&) override { return body.size(); }
  void on_chunk_header_impl(uint64_t, View, error_code&) override {}
  size_t on_chunk_body_impl(uint64_t, View body, error_code& failure) override {
    if (sink != nullptr && !body.empty() && !(*sink)({body.data(), body.size()})) failure = http::error::body_limit;
    return body.size();
  }
  void on_finish_impl(error_code&) override {}
};

MessageParser::MessageParser(Kind kind, size_t max_header_bytes) : max_header_bytes_(max_header_bytes) {
  if (kind == Kind::kRequest)
    impl_ = std::make_unique<Impl<true>>(max_header_bytes);
  else
    impl_ = std::make_unique<Impl<false>>(max_header_bytes);
}

MessageParser::~MessageParser() = default;

MessageHead& MessageParser::head() { return impl_->head; }

MessageParser::Progress MessageParser::ReadHead(std::string_view data, size_t* used) {
  *used = 0;
  error_code failure;
  while (!impl_->header_done()) {
    const size_t taken = impl_->Put(data.substr(*used), &failure);
    *used += taken;
    header_bytes_ += taken;
    if (failure == http::error::need_more) {
      // What is offered again and again counts as well, so that a head without an end ends here.
      if (header_bytes_ + data.size() - *used > max_header_bytes_)
        failure = http::error::header_limit;
      else
        return Progress::kMore;
    }
    if (failure == http::error::header_limit || header_bytes_ > max_header_bytes_) {
      problem_ = "the header exceeds " + std::to_string(max_header_bytes_) + " bytes";
      return Progress::kTooLarge;
    }
    if (failure) {
      problem_ = failure.message();
      return Progress::kBad;
    }
  }
  impl_->FinishHead();
  return Progress::kDone;
}

MessageParser::Progress MessageParser::ReadChunks(std::string_view data, size_t* used, const Sink& sink) {
  *used = 0;
  impl_->sink = &sink;
  Progress progress = Progress::kDone;
  while (!impl_->done()) {
    error_code failure;
    const size_t taken = impl_->Put(data.substr(*used), &failure);
    *used += taken;
    if (failure == http::error::need_more || (!failure && *used == data.size() && !impl_->done())) {
      // A chunk's line, or the trailers, must not grow without end either.
      if (data.size() - *used > max_header_bytes_) {
        problem_ = "a chunk's header or the trailers exceed " + std::to_string(max_header_bytes_) + " bytes";
        progress = Progress::kBad;
      } else {
        progress = Progress::kMore;
      }
      break;
    }
    if (failure) {
      problem_ = failure == http::error::body_limit ? "the body is too large" : failure.message();
      progress = failure == http::error::body_limit ? Progress::kTooLarge : Progress::kBad;
      break;
    }
  }
  impl_->sink = nullptr;
  return progress;
}

}  // namespace berth::net
