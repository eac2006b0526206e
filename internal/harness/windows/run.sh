#!/bin/bash
# Builds the programs and the tests for Windows, and runs them, on another system in wine: what stands on the system (files, locks,
# transactions with deaths and faults) and a session of the program. DIR is where wine is, or is put.
set -euo pipefail
dir=${1:?directory}
safefile='TestNamesInAHeld|AnotherProgramHas|ReadOnlyFile|LongPaths|DrivesAndShares|LockEndsWith|ListOfWho'
txn='OnWindows|AnotherProgramHas|TwoAtATime'
case "$(uname -s)" in MINGW* | MSYS*) # Windows itself
  go vet ./...
  go test -count=1 -v -run "$safefile" ./internal/safefile
  go test -count=1 -v ./internal/harness/windows
  exec go test -count=1 -v -run "$txn" ./txn ;;
esac
here=$(cd "$(dirname "$0")" && pwd)
if [ "$(uname -sm)" != "Linux x86_64" ] || [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || ! command -v unshare >/dev/null; then
  echo "make windows runs Windows programs in wine, which it can set up for root on Debian (amd64) only"
  exit 0
fi
"$here/wine.sh" setup "$dir"
to=$dir/root/fsmtx-tests
mkdir -p "$to"
export GOOS=windows GOARCH=amd64
go build -o "$to/" ./cmd/...
for p in internal/safefile txn internal/harness/windows; do go test -c -o "$to/$(basename $p).exe" "./$p"; done
run() {
  "$here/wine.sh" run "$dir" "cd /root/fsmtx-tests && FSMTX_TEST_PROGRAM='Z:\\root\\fsmtx-tests\\fsmtx.exe' wine64 $1.exe -test.v -test.run '$2'" 2>&1 |
    grep -v -e XDG_RUNTIME -e '^=== '
}
run safefile "$safefile"
run windows .
run txn "$txn"
