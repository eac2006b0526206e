#!/bin/sh
# Runs "fsmtx verify" on the commit of a pull request, in a clone of its repository. The action sets these variables:
#
#   COMMIT   the commit that is judged
#   BASE     a commit of the branch that it is to be merged into, which has the two files below
#   POLICY   path of the policy; may be empty
#   SIGNERS  path of the file of allowed signers
#   FILES    patterns of files with statements, separated by white space; those count that the commit has added or changed
#   NOTE     true: also the statements in the commit's note
#   PROGRAM  a program fsmtx; if empty, the release VERSION is used, whose SHA256SUMS has the digest SUMS (see validate.sh)
#
# Nothing of the commit is run, and it does not say what has to hold.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

set -- # the arguments of fsmtx verify, built from the last one on
case "$BASE" in
*[!0]*) ;;
*)
	echo "fsmtx: there is no base: the commit that it is to be merged into is empty or zero, as in the event of a new branch" >&2
	echo "hint: set base of the action to a commit of that branch, such as origin/main" >&2
	exit 2
	;;
esac
if ! found=$(git rev-parse --git-dir 2>&1); then
	echo "fsmtx: $found" >&2
	echo "hint: run it in a clone; of another user: git config --global --add safe.directory DIR" >&2
	exit 2
fi
fork=$(git merge-base "$BASE" "$COMMIT") || {
	echo "fsmtx: $BASE and $COMMIT have no common ancestor in this clone" >&2
	if [ "$(git rev-parse --is-shallow-repository)" = true ]; then
		echo "hint: this clone is shallow, with $(git rev-list --count --all) commits: fetch the whole history (fetch-depth: 0)" >&2
	else
		echo "hint: fetch both branches" >&2
	fi
	exit 2
}
for file in $FILES; do # which matches the patterns
	git diff-tree --quiet -r "$fork" "$COMMIT" -- ":(literal)$file" || set -- "$@" "$file"
done
set -- -- "$@"
if [ "$NOTE" = true ]; then
	notes=0
	git ls-remote --quiet --exit-code origin refs/notes/fsmtx >/dev/null || notes=$?
	if [ "$notes" = 0 ]; then
		git -c core.hooksPath=/dev/null fetch --quiet --no-tags origin '+refs/notes/fsmtx:refs/notes/fsmtx' || notes=1
	fi
	if [ "$notes" != 0 ] && [ "$notes" != 2 ]; then # 2: there are none
		echo "fsmtx: the notes with statements (refs/notes/fsmtx) cannot be fetched; those that are not in this clone do not count" >&2
	fi
	set -- --note "$@"
fi
if [ -n "$POLICY" ]; then set -- --policy "$POLICY" "$@"; fi
set -- --format github --commit "$COMMIT" --from "$BASE" --allowed-signers "$SIGNERS" "$@"
if [ -n "$PROGRAM" ]; then exec "$PROGRAM" verify "$@"; fi
set -- --run verify "$@"
if [ -n "$SUMS" ]; then set -- --sums "$SUMS" "$@"; fi
if [ -n "$VERSION" ]; then set -- --version "$VERSION" "$@"; fi
exec "$here/../validate/validate.sh" "$@"
