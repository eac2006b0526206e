package process

import (
	"log"
	"os"

	"golang.org/x/sys/unix"
)

// Sync waits until the file system of dir has written everything. It does not sync other
// file systems: one that does not respond would block the benchmark.
func Sync(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	if err := unix.Syncfs(int(d.Fd())); err != nil {
		log.Fatalf("syncing %s: %v", dir, err)
	}
}
