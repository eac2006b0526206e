// Parse reads an event from standard input, parses it and replies: the least that a hook
// with nothing to do can cost.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
)

func main() {
	data, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	var event map[string]any
	if err := json.Unmarshal(data, &event); err != nil {
		log.Fatal(err)
	}
	fmt.Println(`{"continue": true}`)
}
