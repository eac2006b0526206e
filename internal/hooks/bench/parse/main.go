// Parse is what an event without hooks costs at least: it parses its input.
package main

import (
	"io"
	"log"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

func main() {
	log.SetFlags(0)
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	var event map[string]jsontext.Value
	if err := json.Unmarshal(input, &event); err != nil {
		log.Fatal(err)
	}
}
