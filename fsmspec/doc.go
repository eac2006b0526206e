// Package fsmspec implements the workflow format fsm.json: it parses and validates a
// file, and plans which tasks to delete from a task list and which to create, so
// that the list has the workflow.
//
// The package is pure: bytes and values in, values out. It does no I/O and takes no locks;
// the caller reads the task list, carries out the plan, and knows what the files of a list
// look like. Cyclic dependencies are not an error, because task lists accept them. [Spec.Warnings] lists cycles and
// tasks that block themselves, marked by the field ChangesMeaning of [Problem].
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
//	check        a shell command, or an object: run (the command; required), timeout, dir, env,
//	             watch (patterns of the files on which it stands, in which ** is any directories)
//	approval     true, or a string: the question to a person
//	ready        an array of at most [MaxPatterns] patterns for files
//
// The last four are gates: conditions for starting the task (ready) or completing it; see [Task.Gates].
// This package only reads them. They are not in the tasks of the list.
//
// A pattern is a path relative to the project's directory with the wildcards * and ?;
// the dir of a check is such a path without wildcards. Absolute paths and the element
// ".." are refused, so that both stay inside the project's directory. Symbolic links are
// not checked. Syntax that only other programs support in patterns (**, {a,b}, ~, ${X}, a
// leading !) is refused too, because taken literally it would match nothing. A timeout is a
// number of seconds or a text such as "90s", more than 0 and at most [MaxCheckTimeout]. The
// default is [DefaultCheckTimeout].
//
// A number with a whole value is an integer however it is spelled: 1, 1.0 and 1e0 are
// the same id. An optional field may be null, which is the same as leaving it out.
// An object must not have a key twice. A string with half of a surrogate pair (\ud800)
// is refused, because UTF-8 cannot represent it.
//
// A field with an unknown name is refused if the name is similar to that of a field
// (blocked_by), or is what other formats call one (dependsOn, title): ignoring the field
// would change the meaning of the workflow. Any other unknown field is ignored with a
// warning. In the object of a check every unknown field is refused.
//
// A list orders tasks by blockedBy alone, so blocks is mirrored: a task that blocks
// another one is added to the other's blockedBy, unless it is listed there already.
// blockedBy is not mirrored into blocks.
//
// # Steps that consist of others
//
// In version [WithOutcomes] a task may have do, an array of tasks with ids of their own level,
// and each, the lines of a file or of a command; see [Each]. Every level is proved by itself:
// for the level around it a task with parts is one step. A task with each and without do is
// itself done for each line, so its gates and outcomes are those of the copies.
//
// # Values
//
// In a file of version [WithOutcomes] a task may set values, and the object may have vars, an
// object of names with default texts:
//
//	set      an object: a name, and a regular expression of package regexp that matches the
//	         whole value, an array of values, or an object as for check, whose output it is
//	within   a time limit: a number of seconds or a text, more than 0 and at most [MaxWithin]
//
// A name has small letters, digits and underscores, begins with a letter and has at most 31
// characters. [Args], the arguments of the skill's call, is always there, and the only name
// that a default may have; [Round] is the round of a task, and [Item] its line. {name} is
// replaced in subject, description, activeForm, approval and paths: see [Fill] and
// [FillPattern]. {{name}} is the text {name}. Commands get values as variables, see
// [Variable]; nothing is replaced in them. A name that the file does not declare is an error,
// and so is one that is not set on every path to where it is used.
//
// # Ids
//
// The ids in a file are local. A plan adds the same base to each of them: the largest
// id that the task list has ever had. The numbers of parts follow those of the level around
// them; what is done for each line gets its numbers when the lines are known. Therefore no id
// is used twice. No plan contains an id above [MaxID].
//
// # Concurrency
//
// All values that the package returns may be shared between goroutines. Slices that methods return are copies; what their elements point
// at is shared, and only to be read.
package fsmspec
