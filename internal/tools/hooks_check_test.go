package tools

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheProjectOfASettingsFile(t *testing.T) {
	for path, want := range map[string]string{"/p/.claude/settings.json": "/p", "/p/.codex/hooks.json": "/p", "/p/.gemini/settings.json": "/p",
		"/p/.llxprt/settings.json": "/p", "/p/a/.claude/x/settings.json": "/cwd", "/p/settings.json": "/cwd"} {
		assert.Equal(t, want, projectOf(path, "/cwd"), path)
	}
}
