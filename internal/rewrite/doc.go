// Package rewrite changes how an fsm.json is written, and never drops anything that it
// says: [Fix] repairs what has only one repair, [Format] brings a valid file into its
// canonical form, and [Renumber] gives its tasks the ids 1, 2, 3 and so on.
package rewrite
