// SPDX-License-Identifier: Apache-2.0
#include "net/client_exchange.h"

#include "net/http2_session.h"
#include "net/stream.h"

namespace berth::net {

void Exchange::Cancel() {
  Cancellable::Cancel();
  if (http2.session != nullptr) http2.session->Cancel(*this);
}

void Exchange::TellHead(int status, const Headers& headers) {
  if (streamed) {
    Tell([&] { on_head(status, headers); });
    return;
  }
  response.status = status;
  facts.status = status;
  if (request.few_headers && http2.session != nullptr) return;  // which has set the type already
  const std::string* type = headers.Find("Content-Type");
  response.content_type = type != nullptr ? *type : "";
}

bool Exchange::TellPiece(std::string_view piece, uint64_t expected, uint64_t max_bytes) {
  if (streamed) {
    Tell([&] { on_chunk(piece); });
    return true;
  }
  std::string& body = response.body;
  if (body.size() + piece.size() > max_bytes) return false;
  GrowBody(&body, body.size() + piece.size(), std::max<uint64_t>(expected, body.size() * 2), nullptr);
  body.append(piece);
  return true;
}

}  // namespace berth::net
