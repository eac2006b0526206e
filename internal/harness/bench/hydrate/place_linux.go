package main

import (
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/harness/bench/process"
)

// mountLoops mounts new file systems, whose images are files in dir. It says what it cannot
// mount, and why.
func mountLoops(dir string) (mounted []place, unmount func()) {
	for _, name := range []string{"ext4", "xfs"} {
		image, at := filepath.Join(dir, name+".img"), filepath.Join(dir, name)
		process.Check(os.WriteFile(image, nil, 0o600))
		process.Check(os.Truncate(image, 1<<30))
		process.Check(os.Mkdir(at, 0o755))
		err := run("mkfs."+name, "-q", image)
		if err == nil {
			err = run("mount", "-o", "loop", image, at)
		}
		if err != nil {
			log.Printf("not measured on a new %s: %v", name, err)
			continue
		}
		mounted = append(mounted, place{at, "new " + process.FileSystem(at)})
	}
	return mounted, func() {
		for _, p := range mounted {
			if err := run("umount", p.dir); err != nil {
				log.Print(err)
			}
		}
	}
}

func run(argv ...string) error {
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
