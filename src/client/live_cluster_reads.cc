// SPDX-License-Identifier: Apache-2.0
// Lists, page by page, and watches.
#include <algorithm>
#include <iterator>
#include <utility>

#include "client/live_cluster_internal.h"
#include "client/resource_path.h"
#include "util/text.h"

namespace berth::client {
namespace {

constexpr size_t kMaxObjects = 20'000'000;     // of one list; more is a server that does not end
constexpr int kMaxEmptyPages = 100;            // in one list
constexpr int64_t kMinWatchSeconds = 300;      // up to twice that, so that not all watches end at once
constexpr int64_t kWatchPatienceSeconds = 30;  // beyond the end that the server was asked for
constexpr size_t kMaxVersionShown = 64;        // bytes, in a sentence

// Kinds that may have so many objects that a list of them takes megabytes.
bool IsMany(Kind kind) { return kind == Kind::kPod || kind == Kind::kNode; }

class WatchHandle final : public Watch {
 public:
  util::OwnerLink<Watch> link() const { return owner_.link(); }
  void Hold(std::unique_ptr<net::ResponseStream> stream) { stream_ = std::move(stream); }

 private:
  std::unique_ptr<net::ResponseStream> stream_;
  util::Owner<Watch> owner_{this};
};

}  // namespace

void LiveCluster::Impl::Saw(Kind kind, const std::string& version) {
  Newest& newest = versions[static_cast<size_t>(kind)];
  const uint64_t number = VersionNumber(version);
  if (number > newest.number) newest = {version, number};
}

void LiveCluster::Impl::FromTheStore(ListRun& run) {
  run.version.clear();
  run.paged = true;
  run.from_scratch = true;
}

void LiveCluster::List(Kind kind, std::function<void(ListAnswer)> done) {
  auto run = std::make_shared<ListRun>();
  const std::string& newest = impl_->versions[static_cast<size_t>(kind)].text;
  run->kind = kind;
  run->version = newest.empty() ? "0" : newest;
  // Pages of a list of a given version would be of exactly that version, which the server may have forgotten.
  run->paged = newest.empty();
  run->too_large = impl_->too_large[static_cast<size_t>(kind)];
  if (run->too_large) Impl::FromTheStore(*run);
  run->done = std::move(done);
  impl_->Ask(run);
}

void LiveCluster::Impl::Ask(const std::shared_ptr<ListRun>& run) {
  ApiRequest request;
  request.path = std::string(CollectionPath(run->kind)) + "?" + std::string(Selection(run->kind));
  if (run->paged) request.path += "limit=" + std::to_string(options.page_size) + "&";
  request.path += run->next.empty() ? "resourceVersion=" + UrlEncode(run->version) : "continue=" + UrlEncode(run->next);
  request.timeout = options.list_timeout;
  request.large = true;
  request.accept = run->asked = encodings.Of(run->kind);
  reads->Send(std::move(request), &pacer, [this, run](ApiReply reply) { OnPage(run, std::move(reply)); });
}

void LiveCluster::Impl::OnPage(const std::shared_ptr<ListRun>& run, ApiReply reply) {
  if (!reply.status.ok()) {
    if (reply.status.kind == ErrorKind::kTooLarge && !run->too_large && run->next.empty()) {
      run->too_large = true;
      FromTheStore(*run);
      return Ask(run);
    }
    if (reply.status.gone() && !run->next.empty() && run->paged && !run->too_large) {
      // The pages were read too slowly. All at once, then.
      run->next.clear();
      run->paged = false;
      run->answer.objects.clear();
      return Ask(run);
    }
    const bool named = !run->version.empty() && run->version != "0";
    if (named && (reply.status.gone() || reply.version_too_large)) {
      // The server has lost what we saw: what it says now counts.
      FromTheStore(*run);
      return Ask(run);
    }
    if (reply.status.code == kNotAcceptable && run->asked == Encoding::kProtobuf) {
      GiveUpProtobuf(run->kind, "406 " + reply.status.message);
      return Ask(run);
    }
    return Finish(run, std::move(reply.status));
  }
  Result<ListPage> read = ReadListPage(reply.body, reply.encoding, run->kind, *annotations, options.keep_sources);
  reply.body = {};
  const std::string what = "list of " + std::string(ToString(run->kind));
  if (!read.ok()) {
    if (reply.encoding != Encoding::kProtobuf || run->asked != Encoding::kProtobuf)
      return Finish(run, {0, "no " + what + ": " + read.error().text()});
    GiveUpProtobuf(run->kind, "no " + what + ": " + read.error().text());
    return Ask(run);  // the same page
  }
  ListPage page = std::move(read).value();
  for (std::string& warning : page.warnings) Warn(what + ": ignored: " + warning);
  ListAnswer& answer = run->answer;
  if (run->next.empty()) {
    // Where would a watch begin? Whoever asked would list again and again, and nobody would know why.
    if (VersionNumber(page.resource_version) == 0) {
      return Finish(run, {0, "no " + what + ": metadata.resourceVersion: \"" +
                                 util::Shortened(page.resource_version, kMaxVersionShown) + "\" is not a version"});
    }
    answer.resource_version = page.resource_version;
  }
  if (page.objects.empty()) ++run->empty_pages;
  if (answer.objects.empty()) {
    answer.objects = std::move(page.objects);
  } else {
    answer.objects.insert(answer.objects.end(), std::make_move_iterator(page.objects.begin()),
                          std::make_move_iterator(page.objects.end()));
  }
  if (page.next.empty()) return Finish(run, {});
  if (page.next == run->next || run->empty_pages > kMaxEmptyPages || answer.objects.size() > kMaxObjects)
    return Finish(run, {0, "the server's pages do not end"});
  run->next = std::move(page.next);
  Ask(run);
}

void LiveCluster::Impl::Finish(const std::shared_ptr<ListRun>& run, ApiStatus status) {
  run->answer.status = std::move(status);
  if (!run->answer.status.ok()) run->answer.objects.clear();
  Reply([this, run] {
    if (run->too_large) too_large[static_cast<size_t>(run->kind)] = true;
    if (run->answer.status.ok()) {
      if (run->from_scratch) versions[static_cast<size_t>(run->kind)] = {};
      Saw(run->kind, run->answer.resource_version);
    }
    run->done(std::move(run->answer));
  });
}

std::unique_ptr<Watch> LiveCluster::StartWatch(Kind kind, const std::string& resource_version,
                                               WatchCallbacks callbacks) {
  return impl_->OpenWatch(kind, WatchStart::kVersion,
                          "watch=true&allowWatchBookmarks=true&resourceVersion=" + UrlEncode(resource_version),
                          std::move(callbacks));
}

std::unique_ptr<Watch> LiveCluster::StartStreamedList(Kind kind, WatchCallbacks callbacks) {
  Impl* impl = impl_.get();
  if (!impl->options.streamed_lists) return nullptr;
  const std::string& newest = impl->versions[static_cast<size_t>(kind)].text;
  std::string query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  if (!newest.empty()) query += "&resourceVersion=" + UrlEncode(newest);
  auto complete = std::make_shared<bool>(false);
  callbacks.event = [impl, kind, complete, tell = std::move(callbacks.event)](const WatchEvent& event) {
    if (event.initial_end && !*complete) {
      *complete = true;
      // What the server says now counts: it may have been restored from a backup.
      impl->versions[static_cast<size_t>(kind)] = {};
      impl->Saw(kind, event.resource_version);
    }
    tell(event);
  };
  callbacks.closed = [impl, kind, complete, tell = std::move(callbacks.closed)](const ApiStatus& status) {
    // The server has lost what we saw, or forgotten it.
    if (status.gone() && !*complete) impl->versions[static_cast<size_t>(kind)] = {};
    tell(status);
  };
  return impl->OpenWatch(kind, WatchStart::kEverything, query, std::move(callbacks));
}

std::unique_ptr<Watch> LiveCluster::Impl::OpenWatch(Kind kind, WatchStart start, const std::string& query,
                                                    WatchCallbacks callbacks) {
  const uint64_t random = options.random ? options.random() : fallback_random.Next();
  const int64_t seconds = kMinWatchSeconds + static_cast<int64_t>(random % static_cast<uint64_t>(kMinWatchSeconds));
  auto plan = std::make_shared<WatchPlan>();
  plan->kind = kind;
  plan->start = start;
  plan->path = std::string(CollectionPath(kind)) + "?" + std::string(Selection(kind)) + query +
               "&timeoutSeconds=" + std::to_string(seconds);
  plan->read_timeout = Duration::Seconds(seconds + kWatchPatienceSeconds);

  const util::OwnerLink<Impl> link = door.link();
  callbacks.event = link.Guard([this, kind, event = std::move(callbacks.event)](const WatchEvent& news) {
    Saw(kind, news.resource_version);
    event(news);
  });
  callbacks.closed = link.Guard(std::move(callbacks.closed));
  if (callbacks.opened) callbacks.opened = link.Guard(std::move(callbacks.opened));
  auto handle = std::make_unique<WatchHandle>();
  const Encoding accept = encodings.Of(kind);
  WatchCallbacks first = callbacks;
  if (accept == Encoding::kProtobuf) {
    // Nobody is called once the handle is gone.
    first.closed = link.Guard([this, plan, watch = handle.get(), callbacks](const ApiStatus& status) {
      if (status.code != kNotAcceptable) return callbacks.closed(status);
      watch->Hold(BeginWatch(plan, watch->link(), callbacks, Encoding::kJson));
    });
  }
  handle->Hold(BeginWatch(plan, handle->link(), std::move(first), accept));
  return handle;
}

std::unique_ptr<net::ResponseStream> LiveCluster::Impl::BeginWatch(const std::shared_ptr<const WatchPlan>& plan,
                                                                   const util::OwnerLink<Watch>& watcher,
                                                                   WatchCallbacks callbacks, Encoding accept) {
  net::ClientRequest request;
  request.path = plan->path;
  request.timeout = options.request_timeout;
  request.read_timeout = plan->read_timeout;
  request.large = IsMany(plan->kind);
  auto shown = std::make_shared<std::string>();
  auto watch = std::make_shared<LiveWatch>(
      plan->kind, plan->start, annotations, inbox, watcher, std::move(callbacks),
      LiveWatchLimits{options.max_line_bytes, options.max_unread_bytes, kMaxObjects},
      [this](std::string sentence) { Warn(std::move(sentence)); }, [this, shown] { return credentials.Renew(*shown); },
      [this, kind = plan->kind, accept](const std::string& why) {
        if (accept == Encoding::kProtobuf) GiveUpProtobuf(kind, why);
      },
      options.keep_sources);
  return watches().Stream(
      std::move(request), accept, shown,
      [watch](int status, const net::Headers& headers) {
        const std::string* type = headers.Find("Content-Type");
        watch->OnHead(status, EncodingOf(type != nullptr ? *type : ""));
      },
      [watch](std::string_view piece) { watch->OnPiece(piece); }, [watch](const Error& error) { watch->OnEnd(error); });
}

}  // namespace berth::client
