#!/bin/sh
# The devcontainer feature: runs the install script of the release, which verifies what it installs.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
# For all users of the container: how fsmtx was installed is not written into the home of root.
FSMTX_BIN=${BIN:-/usr/local/bin} XDG_DATA_HOME=/usr/local/share sh "$here/install-fsmtx.sh"
