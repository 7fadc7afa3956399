// SPDX-License-Identifier: Apache-2.0
#include "serving/trusted_authorities.h"

#include <utility>

#include "util/read_file.h"

namespace berth::serving {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{16} << 20;  // no bundle of authorities comes near it

}  // namespace

Result<std::shared_ptr<TrustedAuthorities>> TrustedAuthorities::FromFile(const std::string& name,
                                                                         const std::string& file, Duration look_every,
                                                                         std::function<void(const std::string&)> warn) {
  auto made = std::make_shared<TrustedAuthorities>(name + " " + file);
  made->file_ = file;
  made->look_every_ = std::chrono::nanoseconds(look_every.ns);
  made->warn_ = std::move(warn);
  const std::lock_guard lock(made->mutex_);
  if (Error error = made->Read(); !error.ok()) return error;
  return made;
}

Error TrustedAuthorities::Read() {
  looked_ = std::chrono::steady_clock::now();
  // Requests wait meanwhile, so nothing but a file will do.
  const util::FileContent content = util::ReadFile(file_, {kMaxBytes, util::FileKinds::kRegular});
  if (!content.ok()) return Error(name_ + ": " + content.problem);
  if (pool_ && content.text == pem_) return Error::Ok();
  Result<std::shared_ptr<const net::CertificatePool>> pool = net::CertificatePool::Parse(name_, content.text);
  if (!pool.ok()) return pool.error();
  pool_ = std::move(pool).value();
  pem_ = content.text;
  return Error::Ok();
}

Error TrustedAuthorities::Set(const std::string& pem) {
  const std::lock_guard lock(mutex_);
  if (pool_ && pem == pem_) return Error::Ok();
  Result<std::shared_ptr<const net::CertificatePool>> pool = net::CertificatePool::Parse(name_, pem);
  if (!pool.ok()) return pool.error();
  pool_ = std::move(pool).value();
  pem_ = pem;
  return Error::Ok();
}

std::shared_ptr<const net::CertificatePool> TrustedAuthorities::Current() {
  Error problem = Error::Ok();
  std::shared_ptr<const net::CertificatePool> pool;
  {
    const std::lock_guard lock(mutex_);
    if (!file_.empty() && std::chrono::steady_clock::now() - looked_ >= look_every_) problem = Read();
    pool = pool_;
  }
  if (!problem.ok() && warn_) warn_(problem.text() + "; the last one that was there stays in use");
  return pool;
}

}  // namespace berth::serving
