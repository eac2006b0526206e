// Package fsmspec implements the workflow format fsm.json: it parses and validates a
// file, and plans which task files a task list must lose and gain to hold the workflow.
//
// The package is pure: bytes and values in, values out. It does no I/O, takes no locks
// and knows no paths; reading the task list and carrying out a plan are up to the
// caller. It does not refuse cyclic dependencies, because the client's own task list
// accepts them. It warns of them and of tasks that block themselves, and marks these
// warnings: see [Problem].
//
// # The format
//
// A file is UTF-8 JSON without a byte order mark: an array of at most [MaxTasks]
// objects, at most [MaxBytes] long, nested at most [MaxDepth] deep. A task has
//
//	id           a positive integer, unique in the file, at most [MaxLocalID]; required
//	subject      a string that is not blank; required
//	description  a string
//	activeForm   a string
//	owner        a string
//	status       "pending" (the default), "in_progress" or "completed"
//	blocks       an array of ids of this file
//	blockedBy    an array of ids of this file
//	metadata     an object
//	produces     an array of at most [MaxPatterns] patterns for files
//	check        a shell command, or an object: run (the command; required), timeout, dir
//	approval     true, or a string: the question to a person
//	ready        an array of at most [MaxPatterns] patterns for files
//
// The last four are [Gates]: what has to hold before the task is started (ready) or
// completed. They are read here and enforced elsewhere, and no task file has them.
//
// A pattern is a path relative to the project's directory with the wildcards of package
// path, and the dir of a check is such a path without them. Both stay inside that
// directory: absolute paths and the element ".." are refused. Symbolic links are not
// known here. What other programs understand in patterns (**, {a,b}, ~, ${X}, a leading
// !) is refused too: taken literally it would match nothing. A timeout is a number of
// seconds or a text such as "90s", more than 0, at most [MaxCheckTimeout], and
// [DefaultCheckTimeout] if left out.
//
// A number with a whole value is an integer however it is spelled: 1, 1.0 and 1e0 are
// the same id. An optional field may be null, which is the same as leaving it out.
// The keys of an object are unique. A string with half of a surrogate pair (\ud800)
// is refused, because UTF-8 cannot represent it.
//
// A field with an unknown name is refused if that is nearly the name of a field
// (blocked_by), or what others call one (dependsOn, title): ignored, it would change
// what the workflow means. Any other unknown field is ignored with a warning; in the
// object of a check every unknown field is refused.
//
// The client orders tasks by blockedBy alone. So blocks is mirrored: a task that blocks
// another one is added to blockedBy of that one, unless it is listed there already.
// blockedBy is not mirrored into blocks.
//
// # Ids
//
// The ids in a file are local. A plan adds the same base to each of them: the largest
// number that the task list has ever given. So no id is ever given twice, and a created
// file never has the name of a deleted one. No plan gives an id above [MaxID].
//
// # Concurrency
//
// All values that the package returns may be shared between goroutines. Methods that
// return slices return copies.
package fsmspec
