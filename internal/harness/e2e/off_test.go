//go:build e2e

package e2e

import (
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

const (
	hooksOff, hooksOn = `{"disableAllHooks": true}`, `{"disableAllHooks": false}`

	userFile    = "home/.claude/settings.json"
	projectFile = "project/.claude/settings.json"
	localFile   = "project/.claude/settings.local.json"
	managedFile = "managed-settings.json"
)

// offCase is a configuration that may keep the client from running hooks.
type offCase struct {
	in      string            // flag of install for the hooks, or "plugin"
	files   map[string]string // of the user and the project
	managed map[string]string // of the organisation
	env     map[string]string // of the client and of doctor
	args    []string          // of the client
	off     bool              // the client runs none of the hooks
}

// Facts 110 to 114: what keeps the client from running hooks. Where it runs none, doctor says
// so first, and install --check exits with 4.
func TestHooksThatAreOff(t *testing.T) {
	realclient.CanManage(t)
	one := func(name, text string) map[string]string { return map[string]string{name: text} }
	for name, c := range map[string]offCase{
		"nothing":                      {in: "--local"},
		"user off":                     {in: "--local", files: one(userFile, hooksOff), off: true},
		"project off":                  {in: "--local", files: one(projectFile, hooksOff), off: true},
		"local off":                    {in: "--user", files: one(localFile, hooksOff), off: true},
		"user off, project on":         {in: "--local", files: map[string]string{userFile: hooksOff, projectFile: hooksOn}},
		"project off, local on":        {in: "--user", files: map[string]string{projectFile: hooksOff, localFile: hooksOn}},
		"local off, user on":           {in: "--project", files: map[string]string{localFile: hooksOff, userFile: hooksOn}, off: true},
		"off as text":                  {in: "--local", files: one(userFile, `{"disableAllHooks": "true"}`)},
		"off in a file with a comment": {in: "--local", files: one(userFile, `{"disableAllHooks": true /* why */}`)},
		"off, then on in one file":     {in: "--local", files: one(userFile, `{"disableAllHooks": true, "disableAllHooks": false}`)},
		"managed off":                  {in: "--local", managed: one(managedFile, hooksOff), off: true},
		"managed on, user off":         {in: "--local", files: one(userFile, hooksOff), managed: one(managedFile, hooksOn)},
		"managed part off":             {in: "--local", managed: one("managed-settings.d/10.json", hooksOff), off: true},
		"managed off, part on": {in: "--local", managed: map[string]string{managedFile: hooksOff,
			"managed-settings.d/10.json": hooksOn}},
		"hidden part off":              {in: "--local", managed: one("managed-settings.d/.10.json", hooksOff)},
		"part of another name":         {in: "--local", managed: one("managed-settings.d/10.conf", hooksOff)},
		"managed off as text":          {in: "--local", managed: one(managedFile, `{"disableAllHooks": "true"}`)},
		"managed, not JSON":            {in: "--local", managed: one(managedFile, `{"disableAllHooks":`), off: true},
		"managed, blank":               {in: "--local", managed: one(managedFile, " ")},
		"only managed hooks":           {in: "--local", managed: one(managedFile, `{"allowManagedHooksOnly": true}`), off: true},
		"only managed hooks, as text":  {in: "--local", managed: one(managedFile, `{"allowManagedHooksOnly": "true"}`), off: true},
		"only managed hooks, as 0":     {in: "--local", managed: one(managedFile, `{"allowManagedHooksOnly": 0}`), off: true},
		"only managed hooks, as false": {in: "--local", managed: one(managedFile, `{"allowManagedHooksOnly": "false"}`)},
		"only managed hooks, overruled": {in: "--local", managed: map[string]string{managedFile: `{"allowManagedHooksOnly": true}`,
			"managed-settings.d/10.json": `{"allowManagedHooksOnly": false}`}},
		"only managed hooks, by user": {in: "--local", files: one(userFile, `{"allowManagedHooksOnly": true}`)},
		"only plugins":                {in: "--local", managed: one(managedFile, `{"strictPluginOnlyCustomization": ["hooks"]}`), off: true},
		"only plugins, in two parts": {in: "--local", managed: map[string]string{managedFile: `{"strictPluginOnlyCustomization": ["hooks"]}`,
			"managed-settings.d/10.json": `{"strictPluginOnlyCustomization": ["agents"]}`}, off: true},
		"only plugins' agents":  {in: "--local", managed: one(managedFile, `{"strictPluginOnlyCustomization": ["agents"]}`)},
		"only plugins, by user": {in: "--local", files: one(userFile, `{"strictPluginOnlyCustomization": true}`)},
		"simple":                {in: "--local", env: one("CLAUDE_CODE_SIMPLE", "1"), off: true},
		"simple is 0":           {in: "--local", env: one("CLAUDE_CODE_SIMPLE", "0")},
		"safe mode":             {in: "--local", env: one("CLAUDE_CODE_SAFE_MODE", "yes"), off: true},
		"restricted":            {in: "--local", env: one("CLAUDE_CODE_RESTRICTED", "1"), off: true},
		"user's env":            {in: "--local", files: one(userFile, `{"env": {"CLAUDE_CODE_SIMPLE": "1"}}`), off: true},
		"user's env against another": {in: "--local", env: one("CLAUDE_CODE_SAFE_MODE", "1"),
			files: one(userFile, `{"env": {"CLAUDE_CODE_SAFE_MODE": "0"}}`)},
		"project's env": {in: "--local", files: one(projectFile, `{"env": {"CLAUDE_CODE_SAFE_MODE": "1"}}`)},
		"managed env":   {in: "--local", managed: one(managedFile, `{"env": {"CLAUDE_CODE_SAFE_MODE": "1"}}`), off: true},
		"managed env against the user": {in: "--local", files: one(userFile, `{"env": {"CLAUDE_CODE_SAFE_MODE": "0"}}`),
			managed: one(managedFile, `{"env": {"CLAUDE_CODE_SAFE_MODE": "1"}}`), off: true},
		"untrusted":                  {in: "--local", env: one("CLAUDE_CODE_IGNORE_PERSISTED_TRUST", "1"), off: true},
		"untrusted, user's hooks":    {in: "--user", env: one("CLAUDE_CODE_IGNORE_PERSISTED_TRUST", "1")},
		"--bare":                     {in: "--local", args: []string{"--bare"}, off: true},
		"--safe-mode":                {in: "--local", args: []string{"--safe-mode"}, off: true},
		"--settings off":             {in: "--local", args: []string{"--settings", hooksOff}, off: true},
		"--settings on":              {in: "--local", files: one(userFile, hooksOff), args: []string{"--settings", hooksOn}},
		"--setting-sources":          {in: "--local", args: []string{"--setting-sources", "user,project"}, off: true},
		"--setting-sources, with it": {in: "--project", files: one(userFile, hooksOff), args: []string{"--setting-sources", "project"}},
		"plugin":                     {in: "plugin"},
		"plugin, project off":        {in: "plugin", files: one(projectFile, hooksOff), off: true},
		"plugin, only plugins":       {in: "plugin", managed: one(managedFile, `{"strictPluginOnlyCustomization": ["hooks"]}`)},
		"plugin, only managed hooks": {in: "plugin", managed: one(managedFile, `{"allowManagedHooksOnly": true}`), off: true},
		"plugin of the organisation": {in: "plugin", files: one(projectFile, hooksOff),
			managed: one(managedFile, `{"allowManagedHooksOnly": true, "enabledPlugins": {"fsmtx@fsmtx": true}}`)},
		"all off, with its plugin": {in: "plugin", managed: one(managedFile,
			`{"disableAllHooks": true, "enabledPlugins": {"fsmtx@fsmtx": true}}`), off: true},
		"plugin in safe mode": {in: "plugin", env: one("CLAUDE_CODE_SAFE_MODE", "1"), off: true},
	} {
		t.Run(name, func(t *testing.T) { c.run(t) })
	}
}

func (c offCase) run(t *testing.T) {
	s := realclient.New(t)
	onPath(s)
	for path, text := range c.files {
		s.Write(path, text)
	}
	if c.in == "plugin" {
		dir := s.Path("plugin")
		require.Zero(t, s.Command("", fsmtx, "plugin", "--no-steps", dir).Code)
		s.Claude("plugin", "marketplace", "add", dir)
		s.Claude("plugin", "install", "--scope", "user", "fsmtx@fsmtx")
	} else {
		s.Command("", fsmtx, "install", "--no-steps", c.in) // refuses a file with a comment
	}
	s.Managed = c.managed
	maps.Copy(s.Env, c.env)
	said, checked := s.Path("said"), s.Path("checked")
	ask := fsmtx + " doctor >" + said + "; " + fsmtx + " install --check --no-steps " + strings.TrimPrefix(c.in, "plugin") +
		"; echo $? >" + checked

	r := s.Try(Script{Main: []Turn{Do(Bash("ask", ask)), Say("done")}}, "go", c.args...)
	if _, err := os.Stat(said); err != nil { // the client does not start or has no shell, so a person asks
		s.Command("", "sh", "-c", ask)
	}

	hooks := 0
	for _, h := range r.Hooks {
		if h.Stdout != "" { // a hook of fsmtx, not of the client
			hooks++
		}
	}
	assert.Equal(t, c.off, hooks == 0, "what the client does")
	text := read(t, s, strings.TrimPrefix(said, s.Path("")+"/"))
	first, _, _ := strings.Cut(text, "\n")
	assert.Equal(t, c.off, strings.Contains(first, "so the client runs no hook of fsmtx"), "what doctor says: %s", text)
	if c.in != "plugin" {
		assert.Equal(t, c.off, read(t, s, "checked") == "4\n", "what install --check says: %s", read(t, s, "checked"))
	}
}
