//go:build unix

// Floor does the least that replacing tasks can cost: it reads every file of a
// directory, writes and syncs new files in parallel, renames them into place, removes old
// files and syncs the directory. It parses no JSON, takes no locks and writes no journal.
//
//	floor DIR FIRST N BYTES OLD…
//
// writes N files of BYTES bytes named FIRST.json, FIRST+1.json, …, and removes the files
// named OLD. Without arguments it only parses the event on its standard input: the least that a
// hook with nothing to do can cost.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"
)

func main() {
	log.SetFlags(0)
	input, err := io.ReadAll(os.Stdin)
	check(err)
	if len(os.Args) == 1 {
		var event map[string]any
		check(json.Unmarshal(input, &event))
		fmt.Println(`{"continue": true}`)
		return
	}
	dir := os.Args[1]
	first, n, size := number(2), number(3), number(4)
	check(readAll(dir))
	check(writeAll(dir, first, n, bytes.Repeat([]byte("x"), size)))
	for _, old := range os.Args[5:] {
		check(os.Remove(filepath.Join(dir, old)))
	}
	check(syncDir(dir))
	fmt.Println(`{"continue": true}`)
}

func number(arg int) int {
	n, err := strconv.Atoi(os.Args[arg])
	check(err)
	return n
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func readAll(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var g errgroup.Group
	for part := range slices.Chunk(entries, max(len(entries)/runtime.GOMAXPROCS(0), 64)) {
		g.Go(func() error {
			for _, e := range part {
				_, err := os.ReadFile(filepath.Join(dir, e.Name()))
				if err != nil && !errors.Is(err, fs.ErrNotExist) { // a concurrent run renames its files
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

func writeAll(dir string, first, n int, data []byte) error {
	var g errgroup.Group
	g.SetLimit(32)
	for i := range n {
		g.Go(func() error { return write(filepath.Join(dir, fmt.Sprintf("%d.json", first+i)), data) })
	}
	return g.Wait()
}

func write(path string, data []byte) error {
	temp := path + ".tmp"
	f, err := os.Create(temp)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
