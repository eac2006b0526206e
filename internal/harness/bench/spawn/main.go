// Spawn does the least that running hooks can cost: it runs sh -c true as many times as
// its argument says, at the same time, each with its own pipes.
package main

import (
	"bytes"
	"io"
	"log"
	"os"
	"os/exec"
	"strconv"
	"sync"
)

func main() {
	log.SetFlags(0)
	times, err := strconv.Atoi(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	var group sync.WaitGroup
	for range times {
		group.Go(func() {
			var out, errs bytes.Buffer
			cmd := exec.Command("/bin/sh", "-c", "true")
			cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &errs
			if err := cmd.Run(); err != nil {
				log.Fatal(err)
			}
		})
	}
	group.Wait()
}
