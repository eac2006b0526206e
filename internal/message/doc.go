// Package message is about the text of messages: what an error advises, and which characters are shown.
//
// An error can say what to do about it, where the error arises. The command line
// prints the advice on a line of its own, behind "hint: ".
//
// Much advice is a guess what a misspelt word should have been: the package measures how different
// two words are. The callers choose the known words and the limit.
//
// Text is made safe to show in a terminal, to the model and in a log. Text
// from files, events, the environment and other programs may contain sequences that control
// a terminal, change the order in which characters are displayed, are invisible, or begin a
// line that looks like a line of this program. Such characters are escaped: \n, \x1b,
// \u202e.
//
// The package has no state and imports no other package of this program.
package message
