#!/bin/bash
# Builds the programs and the tests for Windows, and runs them, on another system in wine: what stands on the system (files, locks,
# task lists, transactions with deaths and faults) and a session of the program. DIR is where wine is, or is put. The tests in posix.txt
# are left out, each for the reason that it prints.
set -euo pipefail
dir=${1:?directory}
here=$(cd "$(dirname "$0")" && pwd)
packages="internal/safefile internal/tasks internal/harness/windows txn"
# of txn, what was seen to pass
txn='ADirectoryThatCannot|AMark|ARestored|AllIs|Commit(Accepts|Creates|DoesNot|Leaves|Stops|Succeeds)|ErrorsSay|Everything|History|IDs|'
txn+='Outcome|ReadHistory|RemoveTree|RollbackReports|Tidy|WithKeep|DeathsOnWindows|FaultsOnWindows|ATaskThatAnotherProgramHas|TwoAtATime'
of() { case $1 in txn) echo "^Test($txn)" ;; *) echo . ;; esac }
left() { awk -v p="$1" '$1 == p { print $2 }' "$here/posix.txt" | paste -sd'|' -; }
why() { awk -v p="$1" '$1 == p { $1 = "not run:"; print }' "$here/posix.txt"; }
case "$(uname -s)" in MINGW* | MSYS*) # Windows itself
  go vet ./...
  for p in $packages; do
    why "$p"
    go test -count=1 -v -timeout 30m -run "$(of "$p")" -skip "^(none|$(left "$p"))\$" "./$p"
  done
  exit ;;
esac
if [ "$(uname -sm)" != "Linux x86_64" ] || [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || ! command -v unshare >/dev/null; then
  echo "make windows runs Windows programs in wine, which it can set up for root on Debian (amd64) only"
  exit 0
fi
"$here/wine.sh" setup "$dir"
to=$dir/root/fsmtx-tests
mkdir -p "$to"
export GOOS=windows GOARCH=amd64
go build -o "$to/" ./cmd/...
for p in $packages; do
  mkdir -p "$to/$p"
  [ ! -d "$p/testdata" ] || cp -r "$p/testdata" "$to/$p/"
  go test -c -o "$to/$p/tests.exe" "./$p"
done
for p in $packages; do
  why "$p"
  "$here/wine.sh" run "$dir" "cd /root/fsmtx-tests/$p && FSMTX_TEST_PROGRAM='Z:\\root\\fsmtx-tests\\fsmtx.exe' \
    wine64 tests.exe -test.v -test.timeout 30m -test.run '$(of "$p")' -test.skip '^(none|$(left "$p"))\$'" 2>&1 | grep -v -e XDG_RUNTIME -e '^=== '
done
