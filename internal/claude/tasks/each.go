package tasks

import (
	"bytes"
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Each calls use with the content of each of the named files in dir, by its index. The
// content is valid until use returns. It leaves out what is not a regular file, is too
// large to be a task, or cannot be read: whoever needs to know why reads it by itself.
// Reading a hundred tasks one by one with the os package takes twice as long.
func Each(dir string, names []string, use func(i int, data []byte)) error {
	d, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	var buf bytes.Buffer
	for i, name := range names {
		if data, err := readAt(int(d.Fd()), name, &buf); err == nil {
			use(i, data)
		}
	}
	return nil
}
