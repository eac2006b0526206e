package client_test

import (
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/locator/aferofs"
)

func TestWorkTreesAndTheSettingsReadInThem(t *testing.T) {
	mem := afero.NewMemMapFs()
	for path, text := range map[string]string{
		"/repo/.git/HEAD":                             "ref: refs/heads/main\n",
		"/repo/a/b/x":                                 "",
		"/linked/.git":                                "gitdir: /repo/.git/worktrees/linked\n",
		"/linked/a/x":                                 "",
		"/repo/.git/worktrees/linked/commondir":       "../..\n",
		"/relative/.git":                              "gitdir: ../repo/.git/worktrees/relative\n",
		"/repo/.git/worktrees/relative/commondir":     "/repo/.git\n",
		"/repo/module/.git":                           "gitdir: ../.git/modules/module\n",
		"/repo/.git/modules/module/HEAD":              "ref: refs/heads/main\n",
		"/ofBare/.git":                                "gitdir: /bare.repository/worktrees/ofBare\n",
		"/bare.repository/worktrees/ofBare/commondir": "../..\n",
		"/odd/.git":                                   "not a pointer\n",
		"/outside/a/x":                                "",
		"/gone/.git":                                  "gitdir: /nowhere/.git/worktrees/gone\n",
		"/repo/a/b/.claude/settings.local.json/not-read": "",
	} {
		require.NoError(t, afero.WriteFile(mem, path, []byte(text), 0o644))
	}
	fsys := aferofs.New(mem)
	for dir, want := range map[string]struct {
		root, main string
		above      string // the local settings that precede those in dir
	}{
		"/repo":          {"/repo", "/repo", ""},
		"/repo/a/b":      {"/repo", "/repo", "/repo/.claude/settings.local.json"},
		"/repo/a/b/":     {"/repo", "/repo", "/repo/.claude/settings.local.json"},
		"/linked":        {"/linked", "/repo", "/repo/.claude/settings.local.json"},
		"/linked/a":      {"/linked", "/repo", "/repo/.claude/settings.local.json"},
		"/relative":      {"/relative", "/repo", "/repo/.claude/settings.local.json"},
		"/repo/module":   {"/repo/module", "/repo/module", ""},
		"/repo/module/a": {"/repo/module", "/repo/module", "/repo/module/.claude/settings.local.json"},
		"/ofBare":        {"/ofBare", "/ofBare", ""},
		"/odd":           {"/odd", "/odd", ""},
		"/gone":          {"/gone", "/gone", ""},
		"/outside/a":     {"", "", ""},
		"/":              {"", "", ""},
	} {
		root, main := client.WorkTree(fsys, dir)
		assert.Equal(t, want.root, root, dir)
		assert.Equal(t, want.main, main, dir)

		files := client.SettingsFiles(fsys, "/config", dir)
		if want.above != "" && assert.NotEmpty(t, files, dir) {
			assert.Equal(t, want.above, files[0], dir)
			files = files[1:]
		}
		own := dir
		if own[len(own)-1] != '/' {
			own += "/"
		}
		assert.Equal(t, []string{own + ".claude/settings.local.json", own + ".claude/settings.json", "/config/settings.json"}, files, dir)
	}
	assert.Equal(t, []string{"/config/settings.json"}, client.SettingsFiles(fsys, "/config", ""))
	assert.Equal(t, []string{"/outside/.claude/settings.local.json", "/outside/.claude/settings.json"},
		client.SettingsFiles(fsys, "", "/outside"))
}
