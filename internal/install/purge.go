package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard/rules"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/txn"
)

// Purge removes the hooks from each file that install writes, of every agent, the copy of
// the program that install has made unless hooks of other projects run it, the files of the
// guards, and the state directories of all task lists. What cannot be removed does not keep
// the rest.
func Purge(ctx context.Context, s terminal.Streams) error {
	var failures []error
	for _, scope := range []Scope{User, Project, Local} {
		j := job{Request: Request{Scope: scope}, verb: remove}
		_, err := j.run(s, agent.Claude())
		failures = append(failures, err)
	}
	for _, a := range agent.Others() {
		for _, scope := range []Scope{User, Project} {
			j := job{Request: Request{Scope: scope}, verb: remove, quiet: true}
			_, err := j.run(s, a)
			failures = append(failures, err)
		}
	}
	failures = append(failures, purgeCopy(s), purgeGuards(s), purgeLists(ctx, s))
	failed := errors.Join(failures...)
	if failed == nil {
		return nil
	}
	advice := "repair that, then run fsmtx install --remove --purge again"
	if first := message.Hint(failed); first != "" {
		advice = first + "; then run fsmtx install --remove --purge again"
	}
	return message.WithHint(failed, advice)
}

// purgeCopy removes the copy of the program. Hooks whose program is missing fail without a
// message (fact 46, client 2.1.329), so the copy is kept while others run it.
func purgeCopy(s terminal.Streams) error {
	path, err := copyPath(s.Getenv)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	users, err := settingsWith(s, path)
	if err != nil {
		return fmt.Errorf("%s is kept, because it is not known which projects run it: %w", filepath.Dir(path), err)
	}
	if len(users) > 0 {
		return message.WithHint(fmt.Errorf("%s is kept, because hooks run it: %s", filepath.Dir(path), strings.Join(users, ", ")),
			"run fsmtx install --remove in those projects")
	}
	copied, err := removeCopy(s.Getenv)
	if err != nil || copied == "" {
		return err
	}
	return s.Printf("removed %s\n", copied)
}

// settingsWith returns the settings files that name the program, of the user and of the
// projects that the client knows.
func settingsWith(s terminal.Streams, program string) (found []string, err error) {
	config, err := client.ConfigDir(s.Getenv)
	if err != nil {
		return nil, err
	}
	files := []string{filepath.Join(config, client.UserSettings)}
	path, err := client.ConfigFile(s.Getenv)
	if err != nil {
		return nil, err
	}
	known, err := settings.Read(path)
	if err != nil {
		return nil, err
	}
	if len(known.Data) > 0 {
		projects, err := projectsIn(known.Data)
		if err != nil {
			return nil, inFile(known, err)
		}
		for _, dir := range projects {
			files = append(files, filepath.Join(dir, client.ProjectSettings), filepath.Join(dir, client.LocalSettings))
		}
	}
	for _, name := range files {
		file, err := settings.Read(name)
		if errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if bytes.Contains(file.Data, []byte(program)) {
			found = append(found, name)
		}
	}
	return found, nil
}

// projectsIn returns the directories of the projects in the client's file.
func projectsIn(data []byte) (dirs []string, err error) {
	members, err := jsonx.Members(data)
	if err != nil {
		return nil, jsonx.Explain(data, err)
	}
	projects, ok := members["projects"]
	if !ok {
		return nil, nil
	}
	byDir, err := jsonx.Members(projects)
	return slices.Sorted(maps.Keys(byDir)), err
}

// purgeGuards removes the files that the guards have kept.
func purgeGuards(s terminal.Streams) error {
	removed, err := rules.Purge(s.Env)
	for _, path := range removed {
		if err := s.Printf("removed %s\n", path); err != nil {
			return err
		}
	}
	return err
}

// purgeLists removes the state directories of all task lists.
func purgeLists(ctx context.Context, s terminal.Streams) error {
	dirs, err := tasklist.WithHistory(s.Getenv)
	if err != nil {
		return err
	}
	var failed []error
	for _, dir := range dirs {
		state, err := txn.StateDir(dir)
		if err == nil {
			err = tasklist.Forget(ctx, dir)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", dir, err))
			continue
		}
		if _, err := message.Fprintf(s.Out, "removed %s\n", state); err != nil {
			return err
		}
	}
	return errors.Join(failed...)
}
