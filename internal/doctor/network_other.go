//go:build !linux

package doctor

// networkFS names the network file system that path is on, "" if that is not known.
func networkFS(string) string { return "" }
