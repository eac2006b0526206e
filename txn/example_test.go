package txn_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/fsmtx/fsmtx/txn"
)

// Replace one file of a directory by two others, in one transaction.
func Example() {
	ctx := context.Background()
	parent, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(parent)
	dir := filepath.Join(parent, "queue")

	// Open locks the directory and rolls back a transaction that a crash interrupted.
	d, err := txn.Open(ctx, dir)
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	fmt.Println("recovery:", d.Recovered().Outcome)

	first := txn.Change{Creates: []txn.File{{Name: "1.json", Data: []byte("{}"), Mode: 0o644}}}
	if err := d.Commit(ctx, first); err != nil {
		log.Fatal(err)
	}
	second := txn.Change{
		Creates: []txn.File{
			{Name: "2.json", Data: []byte("{}"), Mode: 0o644},
			{Name: "3.json", Data: []byte("{}"), Mode: 0o644},
		},
		Deletes: []string{"1.json"},
		Label:   "split",
	}
	if err := d.Commit(ctx, second); err != nil {
		log.Fatal(err)
	}

	entries, err := os.ReadDir(dir)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range entries {
		fmt.Println(e.Name())
	}
	history, err := d.History()
	if err != nil {
		log.Fatal(err)
	}
	last := history[len(history)-1]
	fmt.Printf("%s deleted %s, which is kept beside the directory\n", last.Label, last.Deleted[0].Name)

	// Output:
	// recovery: clean
	// 2.json
	// 3.json
	// split deleted 1.json, which is kept beside the directory
}
