package process

import (
	"log"
	"os"

	"golang.org/x/sys/unix"
)

// Sync waits until the file system that dir is on has written everything: no other, of
// which one that does not answer would hold up the benchmark.
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
