//go:build unix

package realclient

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/fsmtx/fsmtx/internal/client"
)

// Version is the version of the client that the tests run.
const Version = client.Tested

// npmPackage is the client's name in the registry.
const npmPackage = "@anthropic-ai/claude-code"

// ErrNoNPM is returned when the client or a package is not in the cache and npm is not
// installed.
var ErrNoNPM = errors.New("npm is not installed; it is needed to install the client")

// cacheDir returns the directory of installed clients, with one folder for each version:
// FSMTX_E2E_CACHE, or fsmtx-e2e in the user's cache directory.
func cacheDir() (string, error) {
	if dir := os.Getenv("FSMTX_E2E_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the cache directory for the client: %w", err)
	}
	return filepath.Join(dir, "fsmtx-e2e"), nil
}

// Newest returns the number of the newest version in the registry.
func Newest(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "npm", "view", npmPackage, "version").Output()
	if err != nil {
		return "", fmt.Errorf("asking for the newest client: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// installed returns the path of the program of a version of the client and installs it if
// it is not in the cache. Version is pinned; other versions are what npm has under their
// number. It returns ErrNoNPM, or an error with npm's output.
func installed(ctx context.Context, cache, version string) (string, error) {
	dir := filepath.Join(cache, version)
	if err := intoCache(dir, func(building string) error { return install(ctx, building, version) }); err != nil {
		return "", err
	}
	return program(dir), checkClient(dir, version)
}

// intoCache has build fill a new directory and renames it to dir, so that dir exists only
// when it is complete. If dir exists it does nothing. Processes that want the same
// directory wait for one another.
func intoCache(dir string, build func(building string) error) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return ErrNoNPM
	}
	cache := filepath.Dir(dir)
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	lock := flock.New(filepath.Join(cache, "lock"))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("locking the client's cache: %w", err)
	}
	defer lock.Close()
	if _, err := os.Stat(dir); err == nil {
		return nil // another process was faster
	}
	building, err := os.MkdirTemp(cache, "new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(building)
	if err := build(building); err != nil {
		return err
	}
	return os.Rename(building, dir)
}

func program(dir string) string { return filepath.Join(dir, "node_modules", ".bin", "claude") }

// checkClient checks the digests of an installed client if its version is the pinned one.
func checkClient(dir, version string) error {
	if version != Version {
		return nil
	}
	return checkPinned(dir, npmPackage, version)
}

// install installs a version of the client into dir and checks that it starts.
func install(ctx context.Context, dir, version string) (err error) {
	if version == Version {
		err = installPinned(ctx, dir, npmPackage, version)
	} else {
		err = output(exec.CommandContext(ctx, "npm", "install", "--prefix", dir,
			"--no-audit", "--no-fund", npmPackage+"@"+version))
	}
	if err != nil {
		return err
	}
	if checkVersion(ctx, dir, version) == nil {
		return nil
	}
	return runInstallScript(ctx, dir, version)
}

// runInstallScript runs the install script of the package, because npm may be
// configured to run none.
func runInstallScript(ctx context.Context, dir, version string) error {
	script := filepath.Join(dir, "node_modules", filepath.FromSlash(npmPackage), "install.cjs")
	if err := output(exec.CommandContext(ctx, "node", script)); err != nil {
		return err
	}
	return checkVersion(ctx, dir, version)
}

// checkVersion runs the client in an empty environment.
func checkVersion(ctx context.Context, dir, version string) error {
	c := exec.CommandContext(ctx, program(dir), "--version")
	c.Env = []string{"HOME=" + dir, "DISABLE_AUTOUPDATER=1"}
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("the installed client does not start: %w", err)
	}
	if !strings.Contains(string(out), version) {
		return fmt.Errorf("the installed client has version %q, want %s", strings.TrimSpace(string(out)), version)
	}
	return nil
}

// output runs a command. Its error contains the command's output.
func output(c *exec.Cmd) error {
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("installing the client: %s: %w\n%s", strings.Join(c.Args, " "), err, out)
	}
	return nil
}
