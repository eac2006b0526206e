package tasks

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

const highWaterName = ".highwatermark"

// readHighWater returns the highest id that the list remembers having given, 0
// if it remembers none. The client reads the file as JavaScript's parseInt does:
// space before and anything after the digits is ignored, and so is a file with
// no digits or a negative number.
func readHighWater(files vfs.FS, dir string) (int64, error) {
	data, err := files.ReadFile(filepath.Join(dir, highWaterName))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, vfs.ErrNotRegular) || errors.Is(err, vfs.ErrFileTooLarge) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	text := strings.TrimLeft(string(data), " \t\r\n\v\f\ufeff\u00a0")
	return number(strings.TrimPrefix(text, "+")), nil
}

// RaiseHighWater makes the list remember that ids up to n were given. The mark is
// never lowered. It takes effect at once or not at all, and is durable with the
// next sync of dir; scratch is a directory of the same file system for the
// temporary file.
func RaiseHighWater(files vfs.FS, dir, scratch string, n int64) error {
	now, err := readHighWater(files, dir)
	if err != nil || now >= n {
		return err
	}
	return files.WriteFile(filepath.Join(dir, highWaterName), scratch, strconv.AppendInt(nil, n, 10), 0o644)
}
