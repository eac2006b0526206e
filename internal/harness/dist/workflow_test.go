package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

type workflow struct {
	Permissions map[string]string
	Jobs        map[string]struct {
		Permissions map[string]string
		Uses        string
		Needs       string
		With        map[string]string
		Steps       []struct {
			Name, Uses, Run string
			With            map[string]any
		}
	}
}

func releaseWorkflow(t *testing.T) workflow { return workflowOf(t, "release") }

func workflowOf(t *testing.T, name string) (w workflow) {
	t.Helper()
	require.NoError(t, yaml.Unmarshal([]byte(text(t, ".github/workflows/"+name+".yml")), &w))
	return w
}

// TestNothingThatBuildsCanSign: provenance is attested by a workflow of its own, which runs nothing of the repository.
func TestNothingThatBuildsCanSign(t *testing.T) {
	w, signs := releaseWorkflow(t), workflowOf(t, "attest")
	require.Equal(t, "./.github/workflows/attest.yml", w.Jobs["attest"].Uses)
	require.Equal(t, "release", w.Jobs["attest"].Needs)
	require.Equal(t, map[string]string{"sums": "${{ needs.release.outputs.sums }}"}, w.Jobs["attest"].With)
	require.NotContains(t, w.Jobs["release"].Permissions, "id-token")
	job := signs.Jobs["attest"]
	require.Equal(t, map[string]string{"id-token": "write", "attestations": "write"}, job.Permissions)
	require.Len(t, job.Steps, 2)
	require.NotContains(t, job.Steps[0].Run, "${{")
	require.Equal(t, "SHA256SUMS", job.Steps[1].With["subject-checksums"])
	require.Regexp(t, `^actions/attest@[0-9a-f]{40}$`, job.Steps[1].Uses)

	// The digests arrive as they were.
	steps, dir := w.Jobs["release"].Steps, t.TempDir()
	sums := strings.Repeat("0", 64) + "  a.tar.gz\n" + strings.Repeat("1", 64) + "  b.cdx.json\n"
	require.NoError(t, writeFiles(dir, []file{{"dist/SHA256SUMS", 0o644, []byte(sums)}}))
	run := func(script string, env ...string) {
		c := exec.Command("bash", "-eo", "pipefail", "-c", script)
		c.Dir, c.Env = dir, append(env, "PATH="+os.Getenv("PATH"), "GITHUB_OUTPUT="+filepath.Join(dir, "output"))
		out, err := c.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	run(steps[len(steps)-2].Run)
	output, err := os.ReadFile(filepath.Join(dir, "output"))
	require.NoError(t, err)
	require.Equal(t, "sums<<END OF SUMS\n"+sums+"END OF SUMS\n", string(output))
	run(job.Steps[0].Run, "SUMS="+strings.TrimSuffix(sums, "\n"))
	arrived, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	require.NoError(t, err)
	require.Equal(t, sums, string(arrived))
}

// The release workflow may write only where it must, pins actions by digest, and makes only
// targets that exist.
func TestReleaseWorkflow(t *testing.T) {
	w := releaseWorkflow(t)
	require.Equal(t, map[string]string{"contents": "read"}, w.Permissions)
	job := w.Jobs["release"]
	require.Equal(t, map[string]string{"contents": "write"}, job.Permissions)
	makefile := text(t, "Makefile")
	var order []string
	for _, step := range job.Steps {
		if step.Uses != "" {
			require.Regexp(t, `^[\w-]+/[\w-]+@[0-9a-f]{40}$`, step.Uses)
		}
		require.NotContains(t, step.Run, "${{", "%s: an expression in a script is text that others choose", step.Name)
		for _, target := range regexp.MustCompile(`make (?:-s )?([\w-]+)`).FindAllStringSubmatch(step.Run, -1) {
			require.Regexp(t, `(?m)^`+target[1]+`:`, makefile)
		}
		order = append(order, step.Name)
	}
	require.Equal(t, []string{"Cut the release notes", "Test", "Build", "Say the digests", "Draft"}, order[len(order)-5:])
}

// The draft has every file that SHA256SUMS lists, and SHA256SUMS.
func TestDraft(t *testing.T) {
	w := releaseWorkflow(t)
	steps := w.Jobs["release"].Steps
	script := steps[len(steps)-1].Run

	dir := t.TempDir()
	require.NoError(t, writeFiles(dir, []file{
		{"bin/gh", 0o755, []byte("#!/bin/sh\nfor arg; do echo \"$arg\"; done\n")},
		{"notes.md", 0o644, []byte("notes")},
		{"dist/SHA256SUMS", 0o644, []byte(strings.Repeat("0", 64) + "  a.tar.gz\n" + strings.Repeat("1", 64) + "  b.cdx.json\n")},
	}))
	c := exec.Command("bash", "-eo", "pipefail", "-c", script)
	c.Dir = dir
	c.Env = []string{"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "GITHUB_REF_NAME=v1.2.3", "GITHUB_REPOSITORY=o/r"}
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, "release create v1.2.3 --repo o/r --draft --verify-tag --title v1.2.3 --notes-file ../notes.md "+
		"SHA256SUMS a.tar.gz b.cdx.json",
		strings.Join(strings.Fields(string(out)), " "))
}

// The workflow that publishes for npm has no token, takes nothing but what the release has, verifies that, and runs the script that
// TestPublish runs.
func TestPublishWorkflow(t *testing.T) {
	w := workflowOf(t, "publish")
	job := w.Jobs["npm"]
	require.Equal(t, map[string]string{"contents": "read", "id-token": "write"}, job.Permissions)
	require.NotContains(t, text(t, ".github/workflows/publish.yml"), "secrets.")
	steps := job.Steps[len(job.Steps)-2:]
	require.Equal(t, ".ci/publish dist --provenance", steps[1].Run)

	dir := t.TempDir()
	require.NoError(t, writeFiles(dir, []file{
		{"bin/gh", 0o755, []byte("#!/bin/sh\necho \"$@\" >>log\ncase $2 in download) mkdir dist; touch dist/a.tgz dist/b.tgz;; esac\n")}}))
	c := exec.Command("bash", "-eo", "pipefail", "-c", steps[0].Run)
	c.Dir = dir
	c.Env = []string{"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "GITHUB_REF_NAME=v1.2.3", "GITHUB_REPOSITORY=o/r"}
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	require.NoError(t, err)
	const signed = " --repo o/r --signer-workflow o/r/.github/workflows/attest.yml\n"
	require.Equal(t, "release verify v1.2.3 --repo o/r\nrelease download v1.2.3 --repo o/r --dir dist --pattern *.tgz --pattern SHA256SUMS\n"+
		"attestation verify dist/a.tgz"+signed+"attestation verify dist/b.tgz"+signed, string(log))
}
