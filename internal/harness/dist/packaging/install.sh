#!/bin/sh
# Installs fsmtx @VERSION@: fsmtx and fsmtx-tools into ~/.local/bin, or into FSMTX_BIN.
#
#   sh install.sh              install
#   sh install.sh --check      download and verify, install nothing
#
# The SHA-256 digests of the archives are in this script. Nothing of an archive is unpacked or run
# before its digest is the one below. FSMTX_FROM names another place for the archives: a URL, or a
# directory. Nothing outside the target directory is changed.
set -eu

version='@VERSION@'
from=${FSMTX_FROM:-'@URL@'}
digests='@DIGESTS@'

refuse() {
	printf 'install.sh: %s\n' "$1" >&2
	[ $# -lt 2 ] || printf 'hint: %s\n' "$2" >&2
	exit 1
}

check=no
case ${1-} in
'') ;;
--check) check=yes ;;
-h | --help)
	sed -n '2,/^set -eu/{/^set -eu/d;s/^# \{0,1\}//;p;}' "$0" 2>/dev/null || :
	exit 0
	;;
*) refuse "unknown argument $1" 'sh install.sh [--check]' ;;
esac
[ $# -le 1 ] || refuse "unknown argument $2" 'sh install.sh [--check]'

system=$(uname -s)
case $system in
Linux) system=linux ;;
Darwin) system=darwin ;;
*) refuse "fsmtx does not run on $system" 'it runs on Linux and macOS; on Windows, run this script in WSL' ;;
esac
machine=$(uname -m)
case $machine in
x86_64 | amd64) machine=amd64 ;;
arm64 | aarch64) machine=arm64 ;;
*) refuse "there is no program for $machine" 'build it with Go: go install github.com/fsmtx/fsmtx/cmd/...@v@VERSION@' ;;
esac

name=fsmtx_${version}_${system}_$machine
want=$(printf '%s\n' "$digests" | sed -n "s/^\([0-9a-f]\{64\}\)  $name\.tar\.gz\$/\1/p")
[ -n "$want" ] || refuse "this script has no digest for $name.tar.gz" 'take the script of another release'

if [ -n "${FSMTX_BIN-}" ]; then
	bin=$FSMTX_BIN
elif [ -n "${HOME-}" ]; then
	bin=$HOME/.local/bin
else
	refuse 'neither FSMTX_BIN nor HOME is set' 'set FSMTX_BIN to the directory for the programs'
fi
case $bin in /*) ;; *) refuse "FSMTX_BIN is $bin, which is not an absolute path" ;; esac

if command -v sha256sum >/dev/null 2>&1; then
	digest() { sha256sum "$1" | cut -d ' ' -f 1; }
elif command -v shasum >/dev/null 2>&1; then
	digest() { shasum -a 256 "$1" | cut -d ' ' -f 1; }
elif command -v openssl >/dev/null 2>&1; then
	digest() { openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1; }
else
	refuse 'there is no program for SHA-256 here: sha256sum, shasum or openssl' 'install one of them; without it the archive cannot be verified'
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/fsmtx.XXXXXX") || refuse 'cannot create a temporary directory' 'set TMPDIR to a directory that you can write to'
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' HUP INT TERM
archive=$scratch/$name.tar.gz

case $from in
/*)
	cp "$from/$name.tar.gz" "$archive" || refuse "cannot read $from/$name.tar.gz"
	;;
*)
	url=$from/$name.tar.gz
	if command -v curl >/dev/null 2>&1; then
		curl -fsSL -o "$archive" "$url" || refuse "cannot download $url" 'is the release published, and is the network there? FSMTX_FROM names another place'
	elif command -v wget >/dev/null 2>&1; then
		wget -q -O "$archive" "$url" || refuse "cannot download $url" 'is the release published, and is the network there? FSMTX_FROM names another place'
	else
		refuse 'there is neither curl nor wget here' "download $url and SHA256SUMS yourself, and unpack the archive"
	fi
	;;
esac

have=$(digest "$archive")
if [ "$have" != "$want" ]; then
	refuse "$name.tar.gz is not the archive of this release: its SHA-256 is $have, want $want" 'nothing was unpacked or installed; download it again, and report it if that does not help'
fi
if [ "$check" = yes ]; then
	printf 'verified %s\n' "$name.tar.gz"
	exit 0
fi

tar -xzf "$archive" -C "$scratch" || refuse "cannot unpack $name.tar.gz"
mkdir -p "$bin" || refuse "cannot create $bin" 'set FSMTX_BIN to a directory that you can write to'
for program in fsmtx fsmtx-tools; do
	# Renamed into place: hooks may be running the program that is there.
	new=$bin/.$program.$$
	if ! cp "$scratch/$name/$program" "$new" || ! chmod 755 "$new" || ! mv -f "$new" "$bin/$program"; then
		rm -f "$new"
		refuse "cannot write $bin/$program" 'set FSMTX_BIN to a directory that you can write to'
	fi
done

printf 'installed fsmtx %s in %s\n' "$version" "$bin"
# shellcheck disable=SC2016 # the person types $PATH
case :$PATH: in
*:"$bin":*) printf 'type fsmtx init in a project of yours\n' ;;
*) printf 'put it on your PATH: export PATH="%s:$PATH"\n' "$bin" ;;
esac
