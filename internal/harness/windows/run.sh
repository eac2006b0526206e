#!/bin/bash
# Builds the programs and the tests for Windows, and runs them, on another system in wine: what stands on the system (files, locks,
# task lists, transactions with deaths and faults), consoles, who calls a command, what is read, states and gates, a session of the
# program, and one of the real client. DIR is where wine is, or is put. The tests in posix.txt are left out, each for the reason that it
# prints. The end is a summary, also of a run that was ended; it fails if a test has. PACKAGES, such as "txn", are run alone.
set -euo pipefail
dir=${1:?directory} packages=${*:2}
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../.."
[ -n "$packages" ] || packages="internal/harness/windows internal/safefile internal/client internal/settings internal/jsonx
  internal/outline internal/pattern internal/permission internal/caller internal/message internal/frontmatter internal/shell
  internal/terminal internal/git internal/state internal/tasklist internal/gates internal/hook internal/install internal/proof
  internal/write internal/tasks fsmspec txn"
# of txn, what was seen to pass
txn='ADirectoryThatCannot|AMark|ARestored|AllIs|Commit(Accepts|Creates|DoesNot|Leaves|Stops|Succeeds)|ErrorsSay|Everything|History|IDs|'
txn+='Outcome|ReadHistory|RemoveTree|RollbackReports|Tidy|WithKeep|DeathsOnWindows|FaultsOnWindows|ATaskThatAnotherProgramHas|TwoAtATime'
of() { case $1 in txn) echo "^Test($txn)" ;; *) echo . ;; esac }
left() { awk -v p="$1" '$1 == p { print $2 }' "$here/posix.txt" | paste -sd'|' -; }
why() { awk -v p="$1" '$1 == p { $1 = "not run:"; print }' "$here/posix.txt"; }

# client puts the real client for Windows into "$1", the version and the archive that its other tests have pinned, and prints its name.
client() {
  local name=@anthropic-ai/claude-code-win32-x64 pinned version want archive
  pinned=$(echo "$here"/../realclient/pinned/claude-code-*.json)
  version=${pinned##*claude-code-} version=${version%.json}
  if [ ! -e "$1/claude-$version/claude.exe" ]; then
    mkdir -p "$1/new" "$1/claude-$version"
    want=$(grep -A 3 "\"node_modules/$name\"" "$pinned" | sed -n 's/.*"integrity": "\(.*\)".*/\1/p')
    archive=$(cd "$1/new" && npm pack --silent "$name@$version")
    if [ "sha512-$(openssl dgst -sha512 -binary "$1/new/$archive" | openssl base64 -A)" != "$want" ]; then
      echo "$archive is not the pinned one" >&2
      return 1
    fi
    tar -xzf "$1/new/$archive" -C "$1/new" package/claude.exe
    mv "$1/new/package/claude.exe" "$1/claude-$version/claude.exe" # by its name the program knows it
    rm -r "$1/new"
  fi
  echo "claude-$version\\claude.exe"
}

# counted runs the tests of a package and keeps what they print for the summary.
log=$(mktemp)
counted() {
  local package=$1
  shift
  echo "== $package" | tee -a "$log"
  why "$package" | tee -a "$log"
  { "$@" 2>&1 || echo "--- FAIL: $package"; } | tr -d '\r' | grep -v -e XDG_RUNTIME -e '^=== ' | tee -a "$log" || true
}
summary() {
  echo "== summary: passed, failed, skipped, not run"
  awk '/^== / { p = $2; order[++n] = p } /^panic: test timed out/ { late[p] = "  did not end" }
    /^ *--- PASS/ { pass[p]++ } /^ *--- FAIL/ { fail[p]++; bad = 1 } /^ *--- SKIP/ { skip[p]++ }
    /^not run/ { not[p]++ }
    END { for (i = 1; i <= n; i++) { p = order[i]; printf "%-26s %4d %4d %4d %4d%s\n", p, pass[p], fail[p], skip[p], not[p], late[p] }
      exit bad }' "$log"
}

case "$(uname -s)" in MINGW* | MSYS*) # Windows itself
  go vet ./...
  FSMTX_TEST_CLIENT=$(cygpath -w "$TMP")\\$(client "$TMP")
  export FSMTX_TEST_CLIENT
  trap 'summary || exit 1' EXIT
  for p in $packages; do
    counted "$p" go test -count=1 -v -timeout 30m -run "$(of "$p")" -skip "^(none|$(left "$p"))\$" "./$p"
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
exe=
if command -v npm >/dev/null; then exe=$(client "$dir/root"); fi
export GOOS=windows GOARCH=amd64
go build -o "$to/" ./cmd/... ./internal/harness/windows/testdata/sh
# shellcheck disable=SC2046
go test -c -o "$to/bin/" $(printf './%s ' $packages)
git ls-files -z | xargs -0 cp --parents -t "$to" # tests read the sources, and testdata
trap 'summary || exit 1' EXIT
for p in $packages; do
  counted "$p" "$here/wine.sh" run "$dir" "cd /root/fsmtx-tests/$p && FSMTX_TEST_PROGRAM='Z:\\root\\fsmtx-tests\\fsmtx.exe' \
    CLAUDE_CODE_GIT_BASH_PATH='Z:\\root\\fsmtx-tests\\bash.exe' \
    FSMTX_TEST_CLIENT='${exe:+Z:\\root\\$exe}' wine64 Z:\\\\root\\\\fsmtx-tests\\\\bin\\\\${p##*/}.test.exe -test.v -test.short \
    -test.timeout 30m -test.run '$(of "$p")' -test.skip '^(none|$(left "$p"))\$'"
done
