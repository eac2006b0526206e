// Package gitbranch finds the branch that is checked out at a directory. It reads git's
// own files, because starting git would cost a hook milliseconds at every tool call. It
// runs git only if it cannot interpret the files.
//
// It handles ordinary repositories, linked work trees and submodules, a branch without a
// commit, a rebase and a detached HEAD. For anything else (another ref storage, GIT_DIR,
// unreadable files) it runs git. On a machine without the git program it finds no
// repository. It reads HEAD, never objects or refs.
package gitbranch
