// Package medium makes block devices of a process's memory, on Linux and as root, with the
// kernel's own file systems on them. Tests and benchmarks use it to know and to decide what a
// disk does: every write and every flush can be recorded, the content can be replaced by what a
// power cut may have left, and a flush can take a given time.
//
// A file in user space (FUSE) is the medium of a loop device, so that every write and
// every flush of the file system above passes through the process that serves it. It answers one
// request at a time: a flush covers exactly the writes that were answered before it, and while a
// flush takes its time, nothing else is answered.
//
// The disks and what they are mounted on belong in a mount namespace of their own, which the
// kernel removes with its last process. A process that serves a file must not be killed while it
// waits for that file itself: it would hang in the kernel, and then every program that syncs
// all file systems of the machine. Either it calls Abort at its end, and is not killed, or it has no
// part in that namespace, whose removal waits for the file.
package medium
