package locator_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/fsmtx/fsmtx/locator"
)

func Example() {
	home, err := os.MkdirTemp("", "home-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(home)
	skill := filepath.Join(home, ".claude", "skills", "deploy")
	if err := os.MkdirAll(skill, 0o700); err != nil {
		log.Fatal(err)
	}
	tasks := []byte(`[{"id": 1, "subject": "Run the tests"}]`)
	if err := os.WriteFile(filepath.Join(skill, "fsm.json"), tasks, 0o600); err != nil {
		log.Fatal(err)
	}

	if err := os.WriteFile(filepath.Join(skill, "SKILL.md"), []byte("Deploy."), 0o600); err != nil {
		log.Fatal(err)
	}

	l := locator.Locator{FS: locator.OS{}, ConfigDir: filepath.Join(home, ".claude")}
	result, err := l.Locate("deploy", filepath.Join(home, "src"))
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range result.Steps {
		fmt.Println(step.Outcome, step.Rule)
	}
	data, err := locator.ReadSpec(l.FS, result.Path, 1<<20)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", data)

	// Output:
	// found user skill
	// used user skill
	// [{"id": 1, "subject": "Run the tests"}]
}
