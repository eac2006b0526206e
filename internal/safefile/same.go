package safefile

import "os"

// Same reports whether two paths are equal or lead to the same file. It compares inodes:
// a file may have several names, and on some file systems case does not matter.
func Same(a, b string) bool {
	if a == b {
		return true
	}
	infoA, err := os.Stat(a)
	if err != nil {
		return false
	}
	infoB, err := os.Stat(b)
	return err == nil && os.SameFile(infoA, infoB)
}
