#!/bin/sh
# The devcontainer feature: runs the install script of the release, which verifies what it installs.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
FSMTX_BIN=${BIN:-/usr/local/bin} sh "$here/install-fsmtx.sh"
