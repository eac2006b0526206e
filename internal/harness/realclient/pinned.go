//go:build unix

package realclient

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
)

// pinned has a package-lock.json for each package that tests run, with the SHA-512 of the
// archive of every package that comes with it, for every platform. To pin another version:
//
//	npm install --package-lock-only --omit-lockfile-registry-resolved NAME@VERSION
//
//go:embed pinned
var pinned embed.FS

// errNotPinned is returned for a package whose archives have no known digest.
var errNotPinned = errors.New("the package is not pinned")

// lockfile is the part of a package-lock.json that this package reads.
type lockfile struct {
	Packages map[string]struct { // by path; "" is the directory itself
		Integrity    string            `json:"integrity"`
		Dependencies map[string]string `json:"dependencies"`
	} `json:"packages"`
}

// readPinned returns the package-lock.json of a version of a package. It returns
// errNotPinned if there is none.
func readPinned(name, version string) (data []byte, lock lockfile, err error) {
	data, err = pinned.ReadFile("pinned/" + path.Base(name) + "-" + version + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, lock, fmt.Errorf("%s %s: %w", name, version, errNotPinned)
	}
	if err == nil {
		err = json.Unmarshal(data, &lock)
	}
	return data, lock, err
}

// installPinned installs a pinned package into dir. npm rejects an archive whose digest
// differs.
func installPinned(ctx context.Context, dir, name, version string, flags ...string) error {
	data, lock, err := readPinned(name, version)
	if err != nil {
		return err
	}
	manifest, err := json.Marshal(map[string]any{"private": true, "dependencies": lock.Packages[""].Dependencies})
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{"package.json": manifest, "package-lock.json": data} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	args := append([]string{"ci", "--prefix", dir, "--no-audit", "--no-fund"}, flags...)
	if err := output(exec.CommandContext(ctx, "npm", args...)); err != nil {
		return err
	}
	return checkPinned(dir, name, version)
}

// checkPinned returns an error unless every package in dir has its pinned digest; dir may
// have been filled long ago. npm records the digests in node_modules/.package-lock.json.
func checkPinned(dir, name, version string) error {
	_, want, err := readPinned(name, version)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(dir, "node_modules", ".package-lock.json"))
	if err != nil {
		return err
	}
	var got lockfile
	if err := json.Unmarshal(data, &got); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	delete(got.Packages, "")
	for _, at := range append(slices.Sorted(maps.Keys(got.Packages)), "node_modules/"+name) {
		digest := want.Packages[at].Integrity
		if digest == "" || got.Packages[at].Integrity != digest {
			return fmt.Errorf("%s: %s has the digest %q, want %q; remove the directory", dir, at, got.Packages[at].Integrity, digest)
		}
	}
	return nil
}
