// Package gitbranch tells which branch is checked out where a directory is,
// without starting git wherever git's own files say it plainly: a hook that
// runs at every tool call cannot spend milliseconds on a child process.
//
// It knows ordinary repositories, linked work trees and submodules, a branch
// without a commit, a detached HEAD, and asks git itself for what it does not
// know (another ref storage, GIT_DIR, unreadable files). A machine without the
// git program counts as being outside a repository. It reads HEAD only, never
// objects or refs, and answers no other question about a repository.
package gitbranch
