package shell_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/shell"
)

// TestLinesOfPowerShell: what a line plainly runs is one of its commands, and what it may run is known by its words.
func TestLinesOfPowerShell(t *testing.T) {
	const plainly, perhaps, no = "plainly", "perhaps", "no"
	for line, want := range map[string]string{
		`git push`:                   plainly,
		"npm test; git push --force": plainly,
		"npm test && git push":       plainly,
		"Get-Content a.txt | Select-String b\ngit push": plainly,
		`& git push`: plainly,
		`& "C:\Program Files\Git\cmd\git.exe" push`:   plainly,
		`C:\Git\cmd\Git.EXE push origin main`:         plainly,
		`.\git.cmd push`:                              plainly,
		`'git' "push"`:                                plainly,
		"gi`t pu`sh":                                  plainly,
		"git `\n  push":                               plainly,
		"git \u201cpush\u201d":                        plainly,
		`if ($x) { git push }`:                        plainly,
		`1..2 | ForEach-Object { git push }`:          plainly,
		`(git push)`:                                  plainly,
		`git push > log.txt`:                          plainly,
		`git $what`:                                   perhaps,
		`git "$env:WHAT"`:                             perhaps,
		`$x = 'push'; git $x`:                         perhaps,
		`& $program push`:                             perhaps,
		`cmd /c git push`:                             perhaps,
		`powershell -Command "git push"`:              perhaps,
		`Start-Process git -ArgumentList push`:        perhaps,
		`Start-Process git -ArgumentList 'push','-f'`: perhaps,
		`[Diagnostics.Process]::Start("git", "push")`: perhaps,
		`Set-Alias g git; g push`:                     perhaps,
		`iex ('gi' + 't pu' + 'sh')`:                  perhaps,
		`Invoke-Expression "$a"`:                      perhaps,
		`powershell -EncodedCommand ZwBpAHQA (x)`:     perhaps,
		`& ('gi' + 't') push`:                         perhaps,
		"@'\ngit push\n'@ | sh":                       perhaps,
		`git <# x #> push`:                            perhaps,
		`git -C .. push`:                              perhaps,
		`git status`:                                  no,
		`git log --grep push`:                         no,
		`npm test`:                                    no,
		`Get-ChildItem -Recurse | Where-Object { $_.Length -gt 10 }`: no,
		`Write-Output "done"`: no,
	} {
		r, err := shell.LookPowerShell(line)
		got := no
		for _, words := range r.Commands {
			if strings.HasPrefix(strings.Join(words, " "), "git push") {
				got = plainly
			}
		}
		if got == no && r.MayRun([]string{"git", "push"}) {
			got = perhaps
		}
		assert.Equal(t, want, got, "%s (%v)", line, err)
	}
}

// TestFromPowerShell: a POSIX shell would read \\ and & otherwise.
func TestFromPowerShell(t *testing.T) {
	for line, want := range map[string]string{
		`& 'C:/Users/J Doe/fsmtx.exe' start 1`: `'C:/Users/J Doe/fsmtx.exe' start 1`,
		`C:\bin\fsmtx.exe step skip 1 --because "it's old"; git push`: `'C:\bin\fsmtx.exe' step skip 1 --because ` +
			shell.Quote("it's old") + `; git push`,
		`fsmtx next | Out-Host`:     `fsmtx next; Out-Host`,
		`fsmtx start $n`:            `fsmtx start $n`,
		`if ($x) { fsmtx start 1 }`: `if ($x) { fsmtx start 1 }`,
		`fsmtx start 1 > log.txt`:   `fsmtx start 1 > log.txt`,
	} {
		assert.Equal(t, want, shell.FromPowerShell(line), line)
	}
}
