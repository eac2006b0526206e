// Package git asks git about a repository: its commit, the tree of its files as they are, and what its work tree hides.
//
// The repository may be hostile: no program that its configuration or its hooks name is run, and nothing is fetched. The filters of
// its attributes are run for the files that they change, as git add runs them: else the tree would not be that of a commit. Nothing is
// written into the repository.
package git
