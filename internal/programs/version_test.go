package programs

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/mod/semver"
)

const (
	hash       = "4eb6ddf1ac890123456789abcdef0123456789ab"
	rawArchive = "$Format:%H$\n$Format:%(describe:tags)$\n"
)

// recordedBy returns build information as the toolchain records it.
func recordedBy(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
	return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
}

func TestOf(t *testing.T) {
	revision := debug.BuildSetting{Key: "vcs.revision", Value: hash}
	modified := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	for _, c := range []struct {
		name              string
		describe, archive string
		info              *debug.BuildInfo
		want              Build
	}{
		{"make, of a tag", "v1.2.3", rawArchive, nil, Build{"1.2.3", hash, false}},
		{"make, of a tag with changes", "v1.2.3-dirty", rawArchive, nil, Build{"1.2.3+dirty", hash, true}},
		{"make, after a tag", "v1.2.3-5-g4eb6ddf1ac89", rawArchive, nil, Build{"1.2.4-dev.5+g4eb6ddf1ac89", hash, false}},
		{"make, after a tag with changes", "v1.2.9-15-g4eb6ddf1ac89-dirty", rawArchive, nil,
			Build{"1.2.10-dev.15+g4eb6ddf1ac89.dirty", hash, true}},
		{"make, of a pre-release", "v1.3.0-rc.1", rawArchive, nil, Build{"1.3.0-rc.1", hash, false}},
		{"make, after a pre-release", "v1.3.0-rc.1-2-g4eb6ddf1ac89", rawArchive, nil, Build{"1.3.0-rc.1.dev.2+g4eb6ddf1ac89", hash, false}},
		{"make, before the first tag", "4eb6ddf1ac89", rawArchive, nil, Build{Newest + "-dev+g4eb6ddf1ac89", hash, false}},
		{"make, before the first tag with changes", "4eb6ddf1ac89-dirty", rawArchive, nil,
			Build{Newest + "-dev+g4eb6ddf1ac89.dirty", hash, true}},
		{"archive of a tag", "", hash + "\nv1.2.3\n", recordedBy("(devel)"), Build{"1.2.3", hash, false}},
		{"archive after a tag", "", hash + "\nv1.2.3-5-g4eb6ddf1ac89\n", recordedBy("(devel)"), Build{"1.2.4-dev.5+g4eb6ddf1ac89", hash, false}},
		{"archive before the first tag", "", hash + "\n\n", recordedBy("(devel)"), Build{Newest + "-dev+g4eb6ddf1ac89", hash, false}},
		{"archive in another repository", "", hash + "\nv1.2.3\n", recordedBy("v7.0.0", revision, modified), Build{"1.2.3", hash, false}},
		{"go install of a tag", "", rawArchive, recordedBy("v1.2.3"), Build{"1.2.3", "", false}},
		{"go install of a commit", "", rawArchive, recordedBy("v1.2.4-0.20261122021820-4eb6ddf1ac89"),
			Build{"1.2.4-0.20261122021820-4eb6ddf1ac89", "4eb6ddf1ac89", false}},
		{"go install before the first tag", "", rawArchive, recordedBy("v0.0.0-20261122021820-4eb6ddf1ac89"),
			Build{Newest + "-dev.20261122021820+g4eb6ddf1ac89", "4eb6ddf1ac89", false}},
		{"go build of a tag", "", rawArchive, recordedBy("v1.2.3", revision), Build{"1.2.3", hash, false}},
		{"go build of a tag with changes", "", rawArchive, recordedBy("v1.2.3+dirty", revision, modified), Build{"1.2.3+dirty", hash, true}},
		{"go build before the first tag with changes", "", rawArchive, recordedBy("v0.0.0-20261122021820-4eb6ddf1ac89+dirty", revision,
			modified), Build{Newest + "-dev.20261122021820+g4eb6ddf1ac89.dirty", hash, true}},
		{"go build -buildvcs=false", "", rawArchive, recordedBy("(devel)"), Build{Newest + "-dev", "", false}},
		{"go test", "", rawArchive, recordedBy(""), Build{Newest + "-dev", "", false}},
		{"without build information", "", rawArchive, nil, Build{Newest + "-dev", "", false}},
	} {
		commit := ""
		if c.describe != "" {
			commit = hash
		}
		got := of(c.describe, commit, c.archive, c.info)
		assert.Equal(t, c.want, got, c.name)
		assert.True(t, semver.IsValid("v"+got.Version), "%s: %s is not semantic", c.name, got.Version)
	}
}

func TestStarted(t *testing.T) {
	t.Cleanup(func() { starter = "" })
	for given, want := range map[string]string{"": "", "mcp": "mcp", "a --started-by 1 /p": "a --started-by 1 /p",
		"--started-by": "--started-by", "--started-by 1": "--started-by 1", "--started-by 1 /p": "", "--started-by 1 /p mcp a": "mcp a"} {
		args, err := Started(strings.Fields(given), "1")
		assert.NoError(t, err, given)
		assert.Equal(t, want, strings.Join(args, " "), given)
	}
	_, err := Started([]string{startedBy, "2", "/p"}, "1")
	assert.ErrorContains(t, err, "/p has version 2, and ")
}

// A build between two releases sorts between them.
func TestOrder(t *testing.T) {
	for _, describe := range []string{"v1.2.3-5-g4eb6ddf1ac89", "v1.2.3-1-g4eb6ddf1ac89-dirty"} {
		version := "v" + of(describe, hash, rawArchive, nil).Version
		assert.Positive(t, semver.Compare(version, "v1.2.3"), version)
		assert.Negative(t, semver.Compare(version, "v1.2.4"), version)
	}
}
