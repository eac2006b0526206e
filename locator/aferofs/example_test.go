package aferofs_test

import (
	"fmt"
	"log"

	"github.com/spf13/afero"

	"github.com/fsmtx/fsmtx/locator"
	"github.com/fsmtx/fsmtx/locator/aferofs"
)

func Example() {
	files := afero.NewMemMapFs()
	if err := afero.WriteFile(files, "/src/.claude/skills/deploy/fsm.json", []byte(`[]`), 0o600); err != nil {
		log.Fatal(err)
	}
	l := locator.Locator{FS: aferofs.New(files), ConfigDir: "/home/me/.claude"}
	result, err := l.Locate("deploy", "/src")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Path)
	// Output: /src/.claude/skills/deploy/fsm.json
}
