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
)

// Version is the client's version. What the tests say of the client holds for
// this one.
const Version = "2.1.329"

// npmPackage is the client's name in the registry.
const npmPackage = "@anthropic-ai/claude-code"

// ErrNoNPM means that the client is not in the cache and there is no npm to
// put it there.
var ErrNoNPM = errors.New("npm is not installed, and the client comes from npm")

// Cache returns the directory that keeps installed clients, one folder a
// version: FSMTX_E2E_CACHE, or fsmtx-e2e in the user's cache directory.
func Cache() (string, error) {
	if dir := os.Getenv("FSMTX_E2E_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no place to install the client: %w", err)
	}
	return filepath.Join(dir, "fsmtx-e2e"), nil
}

// Install returns the path of the client's program, and installs it first if
// the cache has none. It returns ErrNoNPM, or what npm said.
func Install(ctx context.Context, cache string) (string, error) {
	dir := filepath.Join(cache, Version)
	if installed(dir) {
		return program(dir), nil
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return "", ErrNoNPM
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	lock := flock.New(filepath.Join(cache, "lock"))
	if err := lock.Lock(); err != nil {
		return "", fmt.Errorf("locking the client's cache: %w", err)
	}
	defer lock.Close()
	if installed(dir) {
		return program(dir), nil
	}
	return program(dir), install(ctx, dir)
}

func program(dir string) string { return filepath.Join(dir, "node_modules", ".bin", "claude") }

func installed(dir string) bool {
	_, err := os.Stat(program(dir))
	return err == nil
}

// install builds the folder under another name, so that dir is there only once
// the client in it has answered.
func install(ctx context.Context, dir string) error {
	building, err := os.MkdirTemp(filepath.Dir(dir), "new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(building)
	npm := exec.CommandContext(ctx, "npm", "install", "--prefix", building,
		"--no-audit", "--no-fund", npmPackage+"@"+Version)
	if err := output(npm); err != nil {
		return err
	}
	if err := answers(ctx, building); err != nil {
		if err := link(ctx, building); err != nil {
			return err
		}
	}
	return os.Rename(building, dir)
}

// link does what the package's own install script does: npm may be configured
// not to run those.
func link(ctx context.Context, dir string) error {
	script := filepath.Join(dir, "node_modules", filepath.FromSlash(npmPackage), "install.cjs")
	if err := output(exec.CommandContext(ctx, "node", script)); err != nil {
		return err
	}
	return answers(ctx, dir)
}

// answers asks the client for its version, in an empty environment.
func answers(ctx context.Context, dir string) error {
	c := exec.CommandContext(ctx, program(dir), "--version")
	c.Env = []string{"HOME=" + dir, "DISABLE_AUTOUPDATER=1"}
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("the installed client does not start: %w", err)
	}
	if !strings.Contains(string(out), Version) {
		return fmt.Errorf("the installed client says it is %q, and %s is wanted", strings.TrimSpace(string(out)), Version)
	}
	return nil
}

// output runs a command; its error says what the command said.
func output(c *exec.Cmd) error {
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("installing the client: %s: %w\n%s", strings.Join(c.Args, " "), err, out)
	}
	return nil
}
