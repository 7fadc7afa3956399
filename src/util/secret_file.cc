// SPDX-License-Identifier: Apache-2.0
#include "util/secret_file.h"

#include <sys/stat.h>

#include <cstdio>

namespace berth::util {

std::string WhoElseReads(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return "";
  const bool group = (info.st_mode & S_IRGRP) != 0, others = (info.st_mode & S_IROTH) != 0;
  if (!group && !others) return "";
  char mode[8];
  std::snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(info.st_mode & 07777));
  return std::string(group && others ? "group and others"
                     : group         ? "its group"
                                     : "others") +
         " can read it (mode " + mode + ")";
}

}  // namespace berth::util
