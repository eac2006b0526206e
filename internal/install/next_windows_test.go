package install

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestLinksOnWindows are made by PowerShell, by commands that need no rights.
func TestLinksOnWindows(t *testing.T) {
	only := alone{to: `.agents\skills`, folders: []string{`..\..\.claude\skills\ship`, `..\..\.claude\skills\my skill`}}
	assert.Equal(t, `mkdir -Force C:\my-project\.agents\skills; `+
		`New-Item -ItemType Junction -Path C:\my-project\.agents\skills\ship -Target C:\my-project\.claude\skills\ship; `+
		`New-Item -ItemType Junction -Path 'C:\my-project\.agents\skills\my skill' -Target 'C:\my-project\.claude\skills\my skill'`,
		only.linking(`C:\my-project`))
}
