package doctor

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAProgramIsUpgradedAsItWasInstalled(t *testing.T) {
	for want, seen := range map[string]trace{
		"installed by Homebrew; to upgrade, run brew upgrade fsmtx": {
			path: "/opt/homebrew/Cellar/fsmtx/1.2.3/bin/fsmtx"},
		"installed by mise; to upgrade, run mise upgrade fsmtx": {
			path: "/home/u/.local/share/mise/installs/fsmtx/1.2.3/fsmtx"},
		"installed by aqua; to upgrade, run aqua update and aqua install": {
			path: "/home/u/.local/share/aquaproj-aqua/pkgs/github_release/x/fsmtx"},
		"installed by npx; to upgrade, run npx fsmtx@latest install": {
			path: "/home/u/.npm/_npx/12ab/node_modules/fsmtx-linux-x64/bin/fsmtx"},
		"installed by npm; to upgrade, run npm install -g fsmtx@latest, then fsmtx install, which renews the copy that hooks run": {
			path: "/usr/lib/node_modules/fsmtx/node_modules/fsmtx-linux-x64/bin/fsmtx"},
		"installed by a plugin of the client; to upgrade, run claude plugin update fsmtx": {
			path: "/home/u/.claude/plugins/cache/fsmtx/fsmtx/1.2.3/bin/fsmtx"},
		"installed by go install; to upgrade, run go install github.com/fsmtx/fsmtx/cmd/...@latest, or make install in a checkout": {
			path:  "/home/u/go/bin/fsmtx",
			goBin: "/home/u/go/bin"},
		"installed by make build in /src/fsmtx; to upgrade, run git pull && make build there": {path: "/src/fsmtx/bin/fsmtx",
			source: "/src/fsmtx"},
		"installed by install.sh; to upgrade, run the install.sh of the newest release": {path: "/home/u/.local/bin/fsmtx",
			scripted: "/home/u/.local/bin/fsmtx"},
		"installed by install.sh; to upgrade, run the install.sh of the newest release with FSMTX_BIN='/o p'": {path: "/o p/fsmtx",
			scripted: "/o p/fsmtx"},
		"installed by hand, from an archive or a build; to upgrade, replace /usr/bin/fsmtx and fsmtx-mcp beside it by those of the newest " +
			"archive": {path: "/usr/bin/fsmtx", goBin: "/home/u/go/bin"},
		"installed by hand, from an archive or a build; to upgrade, replace /Cellar/x/fsmtx and fsmtx-mcp beside it by " +
			"those of the newest archive": {path: "/Cellar/x/fsmtx"},
	} {
		assert.Equal(t, want, seen.way().String())
	}
}
