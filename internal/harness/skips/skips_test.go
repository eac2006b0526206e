package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAnUnexpectedSkipIsReported(t *testing.T) {
	for name, c := range map[string]struct {
		printed    string
		unexpected bool
		want       string
	}{
		"root": {`    a_test.go:7: only root can give a file away\n`, false, "skipped: p TestA: only root can give a file away\n"},
		"kernel": {`    a_test.go:7: the kernel cannot\n        filter\n`, true,
			"unexpectedly skipped: p TestA: the kernel cannot filter\n"},
		"no reason":   {``, true, "unexpectedly skipped: p TestA: \n"},
		"within text": {`    a_test.go:7: x: only root can tell\n`, true, "unexpectedly skipped: p TestA: x: only root can tell\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			events := `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"` + c.printed + `"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestA","Elapsed":0}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}
`
			assert.Equal(t, c.unexpected, report(strings.NewReader(events), &out))
			assert.Equal(t, c.want+"ok  \tp\t0.1s\n", out.String())
		})
	}
}

func TestWhatFailedIsShown(t *testing.T) {
	var out strings.Builder
	assert.False(t, report(strings.NewReader(`{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:7: no\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"fine\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Output":"FAIL\n"}
`), &out))
	assert.Equal(t, "    a_test.go:7: no\nFAIL\n", out.String())
}
