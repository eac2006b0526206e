package programs

import (
	"cmp"
	_ "embed"
	"runtime/debug"
	"strconv"
	"strings"
)

// Newest is the newest version in CHANGELOG.md. Until there is a tag, it is the next
// version.
const Newest = "1.0.0"

// describe and commit are set by the linker (see the Makefile): what "git describe --tags
// --always --dirty" prints, and the commit.
var describe, commit string

// archive is filled in by git in an archive of the repository, such as the source archive
// of a release page: one line with the commit, and one with its "git describe --tags".
//
//go:embed archive.txt
var archive string

// Build is what a program knows about itself.
type Build struct {
	Version  string // semantic, without the v of the tag; never empty
	Commit   string // hexadecimal, possibly shortened; empty if it is not known
	Modified bool   // built from files that differ from the commit; false if unknown
}

// GetBuild returns the build of this program, from the first source that has it: the linker, the
// archive of the source, or the Go toolchain.
func GetBuild() Build {
	info, _ := debug.ReadBuildInfo()
	return of(describe, commit, archive, info)
}

// of returns the build from its three sources. The archive comes before the toolchain: if an
// archive is unpacked inside another repository, the toolchain records that repository.
func of(describe, commit, archive string, info *debug.BuildInfo) Build {
	if describe != "" {
		return described(describe, commit)
	}
	if commit, describe, _ := strings.Cut(strings.TrimSpace(archive), "\n"); commit != "" && !strings.HasPrefix(commit, "$Format") {
		return described(cmp.Or(describe, commit[:min(len(commit), 12)]), commit)
	}
	return recorded(info)
}

// described returns the build from the output of git describe.
func described(text, commit string) Build {
	b := Build{Commit: commit}
	text, b.Modified = strings.CutSuffix(text, "-dirty")
	tag, isTag := strings.CutPrefix(text, "v")
	if !isTag || !strings.Contains(tag, ".") {
		b.Version = Newest + "-dev+g" + strings.TrimPrefix(text, "g")
		return b.marked(".dirty")
	}
	tag, commits, hash := afterTag(tag)
	if commits == "" {
		b.Version = tag
		return b.marked("+dirty")
	}
	b.Version = upcoming(tag) + "dev." + commits + "+" + hash
	return b.marked(".dirty")
}

func (b Build) marked(mark string) Build {
	if b.Modified {
		b.Version += mark
	}
	return b
}

// afterTag splits "1.2.3-5-g4eb6ddf" into tag, commits and hash.
func afterTag(text string) (tag, commits, hash string) {
	rest, hash, ok := cutLast(text)
	if !ok || !strings.HasPrefix(hash, "g") {
		return text, "", ""
	}
	tag, commits, ok = cutLast(rest)
	if _, err := strconv.ParseUint(commits, 10, 32); !ok || err != nil {
		return text, "", ""
	}
	return tag, commits, hash
}

func cutLast(text string) (before, after string, found bool) {
	i := strings.LastIndexByte(text, '-')
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

// upcoming returns the prefix of versions between a tag and the next release: "1.2.4-" after
// 1.2.3, "1.3.0-rc.1." after 1.3.0-rc.1.
func upcoming(tag string) string {
	if strings.Contains(tag, "-") {
		return tag + "."
	}
	i := strings.LastIndexByte(tag, '.')
	patch, err := strconv.ParseUint(tag[i+1:], 10, 32)
	if err != nil {
		return tag + "-"
	}
	return tag[:i+1] + strconv.FormatUint(patch+1, 10) + "-"
}

// recorded returns the build that the Go toolchain recorded: the requested version ("go
// install …@v1.2.3"), or the state of the repository ("go build").
func recorded(info *debug.BuildInfo) Build {
	b := Build{Version: Newest + "-dev"}
	if info == nil {
		return b
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			b.Commit = setting.Value
		case "vcs.modified":
			b.Modified = setting.Value == "true"
		}
	}
	version, isTag := strings.CutPrefix(info.Main.Version, "v")
	if !isTag {
		return b // "(devel)", or nothing
	}
	plain, dirty := strings.CutSuffix(version, "+dirty")
	b.Modified = b.Modified || dirty
	untagged, isPseudo := strings.CutPrefix(plain, "0.0.0-")
	if !isPseudo {
		b.Version = version
		if b.Commit == "" {
			b.Commit = commitOf(plain)
		}
		return b
	}
	// For a commit before the first tag the toolchain records its time and hash.
	day, hash, _ := strings.Cut(untagged, "-")
	if b.Commit == "" {
		b.Commit = hash
	}
	b.Version = Newest + "-dev." + day + "+g" + hash
	return b.marked(".dirty")
}

// commitOf returns the commit at the end of a pseudo-version, twelve digits, or "".
func commitOf(version string) string {
	_, hash, ok := cutLast(version)
	if _, err := strconv.ParseUint(hash, 16, 64); !ok || err != nil || len(hash) != 12 {
		return ""
	}
	return hash
}

// isRelease reports whether a version is that of a release, and not of a build between two.
func isRelease(version string) bool {
	return version != "" && !strings.Contains(version, "-dev") && !strings.Contains(version, "+")
}
