// SPDX-License-Identifier: Apache-2.0
#include "serving/serving_certificate.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "net/self_signed.h"

namespace berth::serving {
namespace {

constexpr mode_t kForAll = 0644, kForOwner = 0600;

bool CanRead(const std::string& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

Error WriteFile(const std::string& file, std::string_view text, mode_t mode) {
  const auto failed = [&] { return Error(file + ": " + std::strerror(errno)); };
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
  if (fd < 0) return failed();
  // A file that was there already keeps its mode.
  bool good = ::fchmod(fd, mode) == 0;
  while (good && !text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    good = count > 0;
    if (good) text.remove_prefix(static_cast<size_t>(count));
  }
  Error error = good ? Error::Ok() : failed();
  if (::close(fd) != 0 && error.ok()) error = failed();
  return error;
}

// "", "0.0.0.0", "::"
bool IsUnspecified(const std::string& address) { return address.find_first_not_of("0.:") == std::string::npos; }

}  // namespace

Result<ServingCertificate> ChooseCertificate(const ServingOptions& options, Time now) {
  ServingCertificate chosen;
  chosen.certificate_file = options.tls_cert_file;
  chosen.key_file = options.tls_private_key_file;
  if (!chosen.certificate_file.empty() || !chosen.key_file.empty()) return chosen;
  if (!options.cert_dir.empty()) {
    const std::filesystem::path folder = options.cert_dir;
    chosen.certificate_file = (folder / (options.component + ".crt")).string();
    chosen.key_file = (folder / (options.component + ".key")).string();
    const bool certificate = CanRead(chosen.certificate_file), key = CanRead(chosen.key_file);
    if (certificate && key) return chosen;
    if (certificate || key) {
      return Error("error reading " + (certificate ? chosen.key_file : chosen.certificate_file) +
                   ", certificate and key must be supplied as a pair");
    }
  }
  std::vector<std::string> names, addresses = {"127.0.0.1"};
  if (IsUnspecified(options.bind_address))
    names.emplace_back("localhost");
  else
    addresses.push_back(options.bind_address);
  Result<net::SelfSigned> made = net::MakeSelfSigned("localhost", names, addresses, now);
  if (!made.ok()) return made.error().Wrap("unable to generate self signed cert");
  if (options.cert_dir.empty()) {
    chosen.certificate_data = made->certificate_pem;
    chosen.key_data = made->key_pem;
    chosen.said = "Generated self-signed cert in-memory";
    return chosen;
  }
  std::error_code code;
  std::filesystem::create_directories(options.cert_dir, code);
  if (code) return Error(options.cert_dir + ": " + code.message());
  if (Error error = WriteFile(chosen.key_file, made->key_pem, kForOwner); !error.ok()) return error;
  if (Error error = WriteFile(chosen.certificate_file, made->certificate_pem, kForAll); !error.ok()) return error;
  chosen.said = "Generated self-signed cert (" + chosen.certificate_file + ", " + chosen.key_file + ")";
  return chosen;
}

}  // namespace berth::serving
