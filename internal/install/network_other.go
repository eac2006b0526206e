//go:build !linux

package install

// networkFS names the network file system that path is on, "" if that is not known.
func networkFS(string) string { return "" }
