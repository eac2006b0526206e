// Package disks cuts the power of real file systems: it tests on Linux, with the
// kernel's own ext4, xfs, btrfs and f2fs, what package crash tests with a model of a
// disk. It contains only tests, which need root and the build tag disks.
//
// Every write and every flush of the file system passes through the test, which records
// them (package medium). The program runs on it as a process of its own. Then, for power
// cuts at and between the flushes, the medium is given what a disk may have kept: all that
// was flushed, and any part of what was not. The file system is mounted again, which replays
// its log; the program recovers the list; and what is there is compared with before and after.
//
// A write of several blocks of 4096 bytes may be torn between blocks, not within one.
package disks
