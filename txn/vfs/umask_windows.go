package vfs

import "io/fs"

// Umask returns 0: files have no such modes here.
func Umask() fs.FileMode { return 0 }
