# SPDX-License-Identifier: Apache-2.0
# The packages Berth needs, in one place, and the function that installs the missing ones. Sourced by ./run and ./test;
# docs/dependencies.md says why each is here. Silent when everything is there already.

# The system as ID:VERSION_ID of os-release(5), e.g. debian:12.
berth_system() {
  local ID="" VERSION_ID=""
  if [ -r "${1:-/etc/os-release}" ]; then . "${1:-/etc/os-release}"; fi
  echo "$ID:$VERSION_ID"
}

# Boost 1.81 or newer. The names are those of Debian 12 and 13 and of Ubuntu 24.04 (not tried there yet); tools/fresh tries
# a system.
berth_boost_package() {
  case $1 in
    debian:12) echo libboost1.81-dev ;; # what libboost-dev means there is 1.74
    *) echo libboost-dev ;;
  esac
}

# To build the program.
BERTH_BUILD_PACKAGES=(g++ cmake ninja-build pkg-config ccache mold
  libsimdjson-dev libyaml-dev libxxhash-dev libprotozero-dev prometheus-cpp-dev "$(berth_boost_package "$(berth_system)")" libssl-dev zlib1g-dev)
# To build and run the tests.
BERTH_TEST_PACKAGES=(libgtest-dev libgmock-dev librapidcheck-dev libnghttp2-dev)
# For ./test --all: fuzzing, clang-tidy and the format check.
BERTH_CHECK_PACKAGES=(clang-14 libclang-rt-14-dev clang-tidy-14 clang-format-14)

# berth_install PACKAGE...: installs those that are missing, as root or through sudo. Returns 2 when it cannot.
berth_install() {
  if ! command -v dpkg-query >/dev/null; then
    echo "Not a Debian system: the equivalents of these packages are expected to be there: $*" >&2
    return 0
  fi
  local package missing=()
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -q '^installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0

  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "Missing packages, and neither root nor sudo to install them. As root:" >&2
      echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
      return 2
    fi
    sudo=(sudo)
  fi
  echo "Installing ${#missing[@]} missing packages: ${missing[*]}"
  local log status=0
  log=$(mktemp)
  # --no-remove: a conflicting package on the machine makes this fail with apt's explanation instead of being uninstalled.
  { "${sudo[@]}" apt-get update -q &&
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends --no-remove \
      -o DPkg::Lock::Timeout=300 "${missing[@]}"; } >"$log" 2>&1 </dev/null || status=2
  if [ $status -ne 0 ]; then
    tail -n 40 "$log" >&2
    echo "Installing failed; apt's last words are above." >&2
  fi
  rm -f "$log"
  return $status
}
