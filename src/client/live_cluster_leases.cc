// SPDX-License-Identifier: Apache-2.0
// Leases, which have a client of their own.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "api/load_error.h"
#include "client/live_cluster_internal.h"
#include "client/request_body.h"
#include "client/resource_path.h"
#include "util/text.h"

namespace berth::client {
namespace {

constexpr std::array<std::string_view, 1> kLease = {"Lease"};
constexpr size_t kMaxHolderShown = 256;  // bytes, in a sentence

std::string LeasesPath(const std::string& ns) {
  return "/apis/coordination.k8s.io/v1/namespaces/" + UrlEncode(ns) + "/leases";
}

// The server gives up when we do.
std::string TimeoutQuery(Duration timeout) {
  const int64_t millis = timeout.ns / 1'000'000;
  return "?timeout=" + (millis % 1000 == 0 ? std::to_string(millis / 1000) + "s" : std::to_string(millis) + "ms");
}

}  // namespace

// Nobody's rate, and nobody's slow request, keeps a leader from staying one.
void LiveCluster::Impl::SendLease(ApiRequest request, const Lease& asked, bool written,
                                  std::function<void(const ApiStatus&, const Lease&)> done) {
  request.timeout = options.lease_timeout;
  // Whatever it waits for, credentials included.
  request.send_by = request.answer_by = util::After(options.lease_timeout);
  // What is asked for counts as well as what is sent.
  const Encoding spoken = std::max(EncodingOf(request.content_type), request.accept);
  leases->Send(std::move(request), nullptr, [this, asked, written, spoken, done = std::move(done)](ApiReply reply) {
    if (Refused(Written::kLease, spoken, reply))
      return written ? PutLease(asked, done) : GetLease(asked.namespace_, asked.name, done);
    Lease lease = asked;
    Believe(reply, {kLease, asked.namespace_, asked.name});
    if (reply.status.ok()) {
      Result<Lease> read = ReadLease(reply.body, reply.encoding);
      if (!read.ok()) {
        reply.status = NoSuccess(reply, read.error().Wrap("lease"));
      } else if (read->resource_version.empty()) {
        reply.status = NoSuccess(reply, Error("lease: metadata.resourceVersion: Required value"));
      } else if (written && read->holder != asked.holder) {
        reply.status = NoSuccess(
            reply, Error("lease: spec.holderIdentity: " + Quoted(util::Shortened(read->holder, kMaxHolderShown)) +
                         ": must be what was written"));
      } else {
        lease = std::move(read).value();
      }
    }
    Reply([done, status = std::move(reply.status), lease = std::move(lease)] { done(status, lease); });
  });
}

void LiveCluster::GetLease(const std::string& ns, const std::string& name,
                           std::function<void(const ApiStatus&, const Lease&)> done) {
  impl_->GetLease(ns, name, std::move(done));
}

void LiveCluster::PutLease(const Lease& lease, std::function<void(const ApiStatus&, const Lease&)> done) {
  impl_->PutLease(lease, std::move(done));
}

void LiveCluster::Impl::GetLease(const std::string& ns, const std::string& name,
                                 std::function<void(const ApiStatus&, const Lease&)> done) {
  ApiRequest request;
  request.path = LeasesPath(ns) + "/" + UrlEncode(name) + TimeoutQuery(options.lease_timeout);
  request.accept = encodings.AnswerTo(Written::kLease);
  Lease asked;
  asked.namespace_ = ns;
  asked.name = name;
  SendLease(std::move(request), asked, false, std::move(done));
}

void LiveCluster::Impl::PutLease(const Lease& lease, std::function<void(const ApiStatus&, const Lease&)> done) {
  const bool create = lease.resource_version.empty();
  ApiRequest request;
  request.method = create ? "POST" : "PUT";
  request.path =
      LeasesPath(lease.namespace_) + (create ? "" : "/" + UrlEncode(lease.name)) + TimeoutQuery(options.lease_timeout);
  Encoding encoding = encodings.Of(Written::kLease);
  // What is given back can be in no form but the one it came in.
  if (!lease.other_metadata.empty() || !lease.other_spec.empty()) {
    if (lease.protobuf && encoding == Encoding::kJson) {
      return Reply([done = std::move(done), lease] { done({409, "the lease has to be read again, as JSON"}, lease); });
    }
    if (!lease.protobuf) encoding = Encoding::kJson;
  }
  request.body = LeaseBody(lease, encoding);
  request.content_type = ContentTypeOf(encoding);
  request.accept = encodings.AnswerTo(Written::kLease);
  SendLease(std::move(request), lease, true, std::move(done));
}

}  // namespace berth::client
