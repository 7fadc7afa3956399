# SPDX-License-Identifier: Apache-2.0
# The Debian packages Berth needs, in one place, and the function that installs the missing ones. Sourced by ./run and
# ./test; docs/dependencies.md says why each is here. Silent when everything is there already.

# To build the program.
BERTH_BUILD_PACKAGES=(g++ cmake ninja-build pkg-config ccache mold
  libsimdjson-dev libyaml-dev libxxhash-dev prometheus-cpp-dev libboost1.81-dev libssl-dev)
# To build and run the tests.
BERTH_TEST_PACKAGES=(libgtest-dev libgmock-dev librapidcheck-dev zlib1g-dev)
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
