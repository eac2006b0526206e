package safefile

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// tempPrefix begins the name of the temporary file of Replace. The name of the file and a number follow.
const tempPrefix = ".fsmtx-write-"

// Shortened returns the name, or its hash if a prefix would make it too long: names have at
// most 255 bytes.
func Shortened(name string) string {
	if len(name) > 200 {
		sum := sha256.Sum256([]byte(name))
		return hex.EncodeToString(sum[:16])
	}
	return name
}

// leftoverAge is how old a temporary file is that no running Replace can have.
const leftoverAge = time.Hour

// Leftovers returns the paths, directly in dir, of the temporary files that killed calls of Replace of this user left
// there more than an hour ago.
func Leftovers(dir string) (paths []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tempPrefix) || strings.Trim(e.Name()[len(e.Name())-1:], "0123456789") != "" {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if info, err := e.Info(); err == nil && isLeftover(path, info) {
			paths = append(paths, path)
		}
	}
	return paths, err
}

func isLeftover(path string, info fs.FileInfo) bool {
	return info.Mode().IsRegular() && CheckSole(path, info) == nil && time.Since(info.ModTime()) > leftoverAge
}
