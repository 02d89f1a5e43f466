#!/bin/bash
set -euo pipefail

# Copies the build to a host.
deploy() {
  local host="$1"
  if [ -z "$host" ]; then
    echo "no host" >&2
    return 1
  fi
  scp -r build "$host":
}

function clean {
  rm -rf build
}

deploy "$@"
