// Package gitbranch finds the branch that is checked out at a directory. It reads
// git's own files and starts git only when they do not tell, because a hook that
// runs at every tool call cannot spend milliseconds on a child process.
//
// It handles ordinary repositories, linked work trees and submodules, a branch
// without a commit, a rebase and a detached HEAD, and leaves the rest (another ref storage,
// GIT_DIR, unreadable files) to git. On a machine without the git program it finds
// no repository. It reads HEAD, never objects or refs.
package gitbranch
