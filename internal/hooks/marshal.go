package hooks

import "github.com/go-json-experiment/json"

// marshal writes what this package itself made, which cannot fail.
func marshal(v any) []byte {
	data, err := json.Marshal(v, tolerant)
	if err != nil {
		panic(err)
	}
	return data
}
