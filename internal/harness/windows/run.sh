#!/bin/bash
# Builds the tests for Windows and the programs, and runs them in wine: what stands on the system (files, locks, transactions with deaths
# and faults) and a session of the program. DIR is where wine is, or is put.
set -euo pipefail
dir=${1:?directory}
here=$(cd "$(dirname "$0")" && pwd)
if [ "$(uname -sm)" != "Linux x86_64" ] || [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || ! command -v unshare >/dev/null; then
  echo "make windows runs Windows programs in wine, which it can set up for root on Debian (amd64) only; on Windows run: go test ./internal/safefile ./txn ./internal/harness/windows"
  exit 0
fi
"$here/wine.sh" setup "$dir"
to=$dir/root/fsmtx-tests
mkdir -p "$to"
export GOOS=windows GOARCH=amd64
go build -o "$to/" ./cmd/...
for p in internal/safefile txn internal/harness/windows; do go test -c -o "$to/$(basename $p).exe" "./$p"; done
run() { "$here/wine.sh" run "$dir" "cd /root/fsmtx-tests && FSMTX_TEST_PROGRAM='Z:\\root\\fsmtx-tests\\fsmtx.exe' wine64 $1.exe -test.v -test.run '$2'" 2>&1 | grep -v -e XDG_RUNTIME -e '^=== '; }
run safefile 'TestNamesInAHeld|AnotherProgramHas|ReadOnlyFile|LongPaths|DrivesAndShares|LockEndsWith|ListOfWho'
run windows .
run txn 'OnWindows|AnotherProgramHas|TwoAtATime'
