package outline

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// acts are words of a command that changes or deletes something, reaches out, goes on for ever, or never fails: programs, their
// subcommands, and words in the names of scripts and targets. What has one of them is never a check.
var acts = sync.OnceValue(func() map[string]bool {
	return words(`
	rm rmdir mv cp ln dd mkfs shred truncate unlink chmod chown chgrp chattr touch mkdir mkfifo mknod mktemp install tee sed patch kill pkill
	killall shutdown reboot halt poweroff systemctl service launchctl crontab mount umount useradd usermod userdel passwd su sudo doas setfacl
	format fdisk parted swapoff iptables ufw sysctl modprobe

	ssh scp sftp rsync curl wget httpie nc ncat netcat telnet ftp ping dig nslookup host traceroute mail mailx sendmail mutt slack hg svn gh
	glab hub jira az aws gcloud gsutil kubectl oc helm terraform terragrunt tofu pulumi ansible playbook docker podman nerdctl buildah skopeo
	compose vagrant packer heroku fly flyctl vercel netlify firebase wrangler serverless sls cdk sam eb doctl psql mysql mariadb sqlite
	sqlite3 mongo mongosh redis cqlsh createdb dropdb pg apt dnf yum apk pacman brew port snap flatpak choco winget gem conda mamba rustup
	nvm pyenv asdf mise open xdg start explorer osascript

	claude codex gemini copilot cursor qwen opencode aider cline llm ollama fsmtx

	deploy deploys deployed deployment publish published publishing unpublish release releases releasing push pushes upload send sends post
	notify email announce tweet submit merge commit tag delete del remove drop destroy erase wipe purge prune clean cleanup clear nuke reset
	revert rollback undo restore stop restart serve server dev develop watch preview uninstall upgrade update outdated audit add init create
	new generate gen codegen scaffold migrate migration migrations seed apply provision sync pull fetch clone download get login logout
	signin auth rotate revoke grant approve bump version fix autofix write overwrite save edit tidy rename move copy backup dump export import
	archive prod production live staging rebase stash checkout switch restore amend force hard inplace place snapshot snapshots wrap setup
	bootstrap teardown down up provision register unregister enable disable invite pay charge transfer buy order subscribe vacuum reindex
	flush evict invalidate unlock shell repl exec eval nohup disown xargs parallel crontab yes

	echo printf cat tac less more head tail ls dir vdir tree pwd date cal whoami who w users groups id hostname uname env printenv wc du df free
	history which whereis type find grep egrep fgrep rg ag ack sort uniq cut paste join comm tr rev fold fmt nl pr expand column file stat
	true false clear tput sleep wait time timeout nice watch top htop ps jobs bg fg man info help script tty stty sum factor seq shuf split
	link sync look last strings size strip as ar ld view vi vim nvim nano emacs ex ed code subl pico pager logname nproc basename dirname
	realpath readlink expr tsort strace gdb gofmt cd pushd popd source set unset alias bind builtin command exit return trap umask ulimit
	wall mesg batch at
`)
})

// formats are words of what rewrites files, unless it only looks.
var formats = sync.OnceValue(func() map[string]bool {
	return words(`format fmt prettier black isort autopep8 yapf rustfmt shfmt rubocop gofumpt goimports swiftformat biome dprint`)
})

var onlyLooks = sync.OnceValue(func() map[string]bool { return words(`check diff verify list dry`) })

// alone are programs that do something else, or ask for more, without arguments.
var alone = sync.OnceValue(func() map[string]bool {
	return words(`npm yarn pnpm bun npx bunx pip pip3 pipx pipenv poetry uv uvx hatch cargo go dotnet mvn gradle bundle rake composer php python
	python2 python3 node deno ruby perl bash sh zsh fish dash ksh pwsh powershell cmd git test tsc jest vitest just task nox lua java javac gcc
	cc clang swift elixir mix iex erl ghci stack cabal sbt scala r rscript julia`)
})

// interpreters run the file that is named.
var interpreters = sync.OnceValue(func() map[string]bool {
	return words(`python python2 python3 node deno ruby perl bash sh zsh fish dash ksh pwsh powershell php lua elixir rscript julia java`)
})

func words(text string) map[string]bool {
	all := map[string]bool{}
	for _, word := range strings.Fields(text) {
		all[word] = true
	}
	return all
}

// CanBeCheck reports whether a command of plain words neither changes something nor reaches out, and can fail. It goes by the words:
// whether there is such a program is for others to find out.
func CanBeCheck(run string) bool {
	parts := strings.Fields(run)
	odd := func(part string) bool { return !simpleWords.in(strings.Trim(part, `'"`)) }
	if len(parts) == 0 || len(run) > 200 || slices.ContainsFunc(parts, odd) {
		return false
	}
	if variables.in(run) || likePath.in(run) || strings.HasPrefix(parts[0], "-") || strings.Contains(parts[0], "=") {
		return false
	}
	name := strings.ToLower(path.Base(parts[0]))
	switch args := parts[1:]; {
	case strings.ContainsAny(parts[0][:1], "/~"), strings.HasPrefix(parts[0], "../"), strings.HasSuffix(parts[0], "/"):
		return false // a path, or a program of this machine
	case len(args) == 0 && alone()[name]:
		return false
	case name == "git":
		return isGitCheck(args)
	case name == "test":
		return len(args) > 1
	case interpreters()[name] && slices.ContainsFunc(args, isInline):
		return false
	case name == "npm" && slices.Contains([]string{"ci", "i", "it", "cit"}, args[0]), name == "make" && slices.Contains(args, "-n"):
		return false
	}
	return !acting(parts)
}

// isInline reports whether an argument has an interpreter run what is typed, and not a file.
func isInline(arg string) bool {
	return slices.Contains([]string{"-c", "-e", "-r", "-p", "-i", "-"}, arg)
}

// isGitCheck: of git, what compares and fails.
func isGitCheck(args []string) bool {
	if len(args) < 2 {
		return len(args) == 1 && args[0] == "fsck"
	}
	switch args[0] {
	case "diff", "diff-index", "diff-files":
		return slices.ContainsFunc(args, func(a string) bool { return a == "--check" || a == "--exit-code" || a == "--quiet" })
	case "verify-commit", "verify-tag", "fsck":
		return true
	}
	return false
}

// acting reports whether a word of a command, its name, or a part of such a word says that it acts.
func acting(parts []string) bool {
	rewrites, looks := false, false
	for i, part := range parts {
		base := strings.ToLower(part)
		if slices.Contains([]string{"-i", "-u", "-y", "-f", "-w"}, base) {
			return true
		}
		if i == 0 || strings.HasPrefix(base, "./") || interpreters()[strings.ToLower(path.Base(parts[0]))] && strings.Contains(base, "/") {
			base = path.Base(base)
		} else if strings.Contains(base, "/") && !strings.HasPrefix(base, "-") {
			continue // a file to look at
		}
		pieces := wordBreak.compiled().Split(strings.ReplaceAll(snake(part, base), ".", " "), -1)
		for _, piece := range append(pieces, strings.Trim(base, "-")) {
			switch {
			case formats()[piece]:
				rewrites = true
			case acts()[piece]:
				return true
			case onlyLooks()[piece]:
				looks = true
			}
		}
	}
	return rewrites && !looks
}

// snake returns a word in lower case, with a space between the words of camelCase.
func snake(part, base string) string {
	if strings.ToLower(part) != base {
		return base
	}
	var out strings.Builder
	for i, r := range part {
		if i > 0 && r >= 'A' && r <= 'Z' && part[i-1] >= 'a' && part[i-1] <= 'z' {
			out.WriteByte(' ')
		}
		out.WriteRune(r)
	}
	return strings.ToLower(out.String())
}

// IsInterpreter reports whether a program runs the file that is named to it.
func IsInterpreter(name string) bool { return interpreters()[name] }
