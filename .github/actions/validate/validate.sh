#!/bin/sh
# Runs "fsmtx validate" from a released archive, which is downloaded once and checked in
# each run, before anything of it runs. The action and the pre-commit hook start this script.
#
#   validate.sh [--version 1.2.3] [--sums DIGEST] [--run COMMAND] [FLAG or PATH of fsmtx validate…]
#
# --run      another command of fsmtx than validate
# --version  which release; by default the one that this script belongs to
# --sums     the SHA-256 that the release's file SHA256SUMS must have. Without it the
#            archive is checked only against the SHA256SUMS of the same release, which
#            each run downloads; if it cannot, it uses the one that it has kept
#
# FSMTX_RELEASES is the address of the releases (a mirror; default: GitHub). The archive is
# kept in FSMTX_CACHE, by default in the user's cache directory.
set -eu

fail() {
	echo "fsmtx: $1" >&2
	[ -z "${2-}" ] || echo "hint: $2" >&2
	exit 2
}

sha256() {
	if command -v sha256sum >/dev/null 2>&1; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

download() { # address, file
	if command -v curl >/dev/null 2>&1; then
		curl --fail --silent --show-error --location --connect-timeout 20 --retry 3 --output "$2" "$1"
	elif command -v wget >/dev/null 2>&1; then
		wget --quiet --timeout=20 --output-document="$2" "$1"
	else
		fail "neither curl nor wget is installed" "install one of them"
	fi || fail "cannot download $1" "is $version a release? does this machine reach it?"
}

# check_sums fails unless a SHA256SUMS file has the digest of --sums, if that is given.
check_sums() {
	[ -z "$sums" ] || [ "$(sha256 "$1")" = "$sums" ] ||
		fail "SHA256SUMS of version $version has another checksum than $sums; nothing was run" "compare the digest with the release's page"
}

version=
sums=
run=validate
while [ $# -gt 0 ]; do
	case $1 in
	--version) version=${2-} ;;
	--sums) sums=${2-} ;;
	--run) run=${2-} ;;
	*) break ;;
	esac
	[ $# -gt 1 ] || fail "$1 needs a value"
	shift 2
done

if [ -z "$version" ]; then
	# The newest version in the changelog beside this script, once it has a date.
	here=$(cd "$(dirname "$0")" && pwd)
	version=$(sed -n 's/^## \[\(.*\)\] - \([0-9-]*\).*$/\1 \2/p' "$here/../../../CHANGELOG.md" | head -n 1)
	case $version in
	*" 2"*) version=${version%% *} ;;
	*) fail "these files are not of a release" "use a tag, or name a release with version" ;;
	esac
fi
version=${version#v}
case $version in
*[!0-9A-Za-z.+-]* | "") fail "\"$version\" is not a version" ;;
esac

os=$(uname -s)
case $os in
Linux) os=linux ;;
Darwin) os=darwin ;;
*) fail "this action runs on Linux and macOS, not on $os" "give its job runs-on: ubuntu-latest; fsm.json is the same on every system" ;;
esac
arch=$(uname -m)
case $arch in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "there is no release for $arch" "build it: go install github.com/fsmtx/fsmtx/cmd/...@v$version" ;;
esac

name=fsmtx_${version}_${os}_${arch}
cache=${FSMTX_CACHE:-${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}}
[ -n "$cache" ] || fail "there is no directory for downloads: HOME, XDG_CACHE_HOME and FSMTX_CACHE are not set" "set FSMTX_CACHE to a directory"
[ -n "${FSMTX_CACHE-}" ] || cache=$cache/fsmtx
from=${FSMTX_RELEASES:-https://github.com/fsmtx/fsmtx/releases/download}/v$version
mkdir -p "$cache"
# Directories of runs that were killed.
find "$cache" -maxdepth 1 -name 'new.??????' -type d -mtime +0 -exec rm -rf {} + 2>/dev/null || :
new=$(mktemp -d "$cache/new.XXXXXX")
trap 'rm -rf "$new"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# keep puts a verified file into the cache, atomically, because other runs may do the same.
keep() { # file, name
	cp "$1" "$new/kept" && mv -f "$new/kept" "$cache/$2" || echo "fsmtx: cannot keep $cache/$2" >&2
}

# Other programs can write to the cache, so it is trusted no more than a download: each run
# copies the archive, checks the copy, and runs what is in it.
sums_file=$name.SHA256SUMS
kept_sums() { [ -f "$cache/$sums_file" ] && cp "$cache/$sums_file" "$new/SHA256SUMS"; }
if [ -n "$sums" ] && kept_sums && [ "$(sha256 "$new/SHA256SUMS")" = "$sums" ]; then
	: # no download is needed
elif (download "$from/SHA256SUMS" "$new/SHA256SUMS") 2>"$new/error"; then
	check_sums "$new/SHA256SUMS"
	keep "$new/SHA256SUMS" "$sums_file"
elif kept_sums; then
	check_sums "$new/SHA256SUMS"
	echo "fsmtx: SHA256SUMS of version $version cannot be downloaded; the one in $cache is used. With --sums no download is needed" >&2
else
	cat "$new/error" >&2
	exit 2
fi
want=$(awk -v name="$name.tar.gz" '$2 == name { print $1 }' "$new/SHA256SUMS")
[ -n "$want" ] || fail "SHA256SUMS of version $version does not list $name.tar.gz"
if ! { [ -f "$cache/$name.tar.gz" ] && cp "$cache/$name.tar.gz" "$new/archive" && [ "$(sha256 "$new/archive")" = "$want" ]; }; then
	download "$from/$name.tar.gz" "$new/archive"
	[ "$(sha256 "$new/archive")" = "$want" ] ||
		fail "$name.tar.gz has another checksum than SHA256SUMS says; nothing was run" "try again; if it stays, report it"
	keep "$new/archive" "$name.tar.gz"
fi
tar -xzf "$new/archive" -C "$new"
code=0
"$new/$name/fsmtx" "$run" "$@" || code=$?
exit "$code"
