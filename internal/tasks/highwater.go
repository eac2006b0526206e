package tasks

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// highWaterName is the file with the largest id that a task of the list has had, so that
// the id of a deleted task is not used again (facts 5 and 7, client 2.1.197).
const highWaterName = ".highwatermark"

// fileMode is the mode with which the client creates files, less the umask.
const fileMode = 0o666

// readHighWater returns the mark, 0 if there is none. The client reads the file
// with JavaScript's parseInt: leading space and text after the digits are ignored, and
// so is a file without digits or with a negative number (fact 5, client 2.1.197).
func readHighWater(files vfs.FS, dir string) (int64, error) {
	data, err := files.ReadFile(filepath.Join(dir, highWaterName))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, vfs.ErrNotRegular) || errors.Is(err, vfs.ErrFileTooLarge) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return parseMark(data), nil
}

func parseMark(data []byte) int64 {
	text := strings.TrimLeft(string(data), " \t\r\n\v\f\ufeff\u00a0")
	return ClientForm{}.Number(strings.TrimPrefix(text, "+"))
}

// Mark returns the mark n for a transaction, which raises it and never lowers it. There is none for 0.
func (ClientForm) Mark(n int64) *txn.Mark {
	if n <= 0 {
		return nil
	}
	return &txn.Mark{
		File:    txn.File{Name: highWaterName, Data: strconv.AppendInt(nil, n, 10), Mode: fileMode},
		Reached: func(now []byte) bool { return parseMark(now) >= n },
	}
}
