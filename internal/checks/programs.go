package checks

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// checkers are the programs that check without changing: the words that a command has to begin with, and the flags that it may have.
// What stands behind a "!" is needed: the command must have one of these words. A needed word that is written with a "=" is a task,
// such as mvn's test, and the command may have no other argument. A flag may have a value, behind "=" or as the next word.
const checkers = `
go test: -v -race -short -run -skip -count -timeout -tags -cover -failfast -shuffle -parallel -p -vet -json -mod
go vet: -v -tags -mod
staticcheck: -tags -checks -tests
golangci-lint run: -v --verbose -c --config --timeout --build-tags
gofumpt:! -l -d
cargo test: --all --workspace --all-features --no-default-features --features --release --locked --offline --lib --bins --tests --doc
	--test -p --package -q --quiet -v --verbose --all-targets --no-fail-fast -j
cargo check: --all --workspace --all-features --no-default-features --features --release --locked --offline --all-targets
	-p --package -q -v
cargo build: --all --workspace --all-features --no-default-features --features --release --locked --offline --all-targets
	-p --package -q -v
cargo clippy: --all --workspace --all-features --no-default-features --features --release --locked --offline --all-targets
	-p --package -q -v --no-deps -D
cargo fmt: --all -p --package -v -q ! --check
cargo nextest run: --all --workspace --all-features --features --release --locked --offline --all-targets -p --package
cargo deny check: --all-features --hide-inclusion-graph
pytest: -q -v -vv -x -s -k -m -n --maxfail --tb --lf --ff --durations --strict-markers --timeout -W --no-header --no-cov -rA -ra
unittest: -v -q -f -b -k discover -s -t -p
coverage report: -m --fail-under --skip-covered
mypy: --strict -p -m --config-file --ignore-missing-imports --no-incremental --show-error-codes --python-version --no-error-summary
pyright: -p --project --warnings --level --stats
flake8: --max-line-length --ignore --select --exclude --count --statistics --config --extend-ignore
pylint: --rcfile --disable --enable --fail-under --errors-only -E -j
ruff check: --no-fix --select --ignore --exclude --config --no-cache -q --quiet --show-files
ruff format: --config --exclude -q --quiet ! --check --diff
black: -q --quiet -l --line-length --config --diff ! --check
isort: -q --profile --diff ! --check --check-only -c
yapf: -r -p ! --diff -d
bandit: -r -q -ll -c -x
vulture: --min-confidence
doc8:
codespell: -q -S -L --skip
node: --test-reporter=spec --test-reporter=tap --test-reporter=dot --test-only --experimental-test-coverage --no-warnings ! --test --check
deno test: --allow-read --no-check --filter --parallel
deno lint: --quiet
deno check: --all
deno fmt: ! --check
bun test: --timeout --bail
jest: --ci --runInBand -i --coverage=false --passWithNoTests --silent --verbose --testPathPattern -t --maxWorkers --bail --config
	--selectProjects
vitest run: --reporter --silent --config --project --dir --passWithNoTests -t
mocha: --recursive --exit --reporter --timeout --grep -g --spec --bail
ava: --serial --verbose
tsc: -p --project --strict --skipLibCheck --pretty ! --noEmit
vue-tsc: -p --project --skipLibCheck ! --noEmit
svelte-check: --tsconfig --fail-on-warnings
astro check:
eslint: --max-warnings --ext --quiet --no-fix --config -c --cache=false --ignore-path --report-unused-disable-directives
	--no-error-on-unmatched-pattern
stylelint: --max-warnings --config --quiet
oxlint: --deny-warnings --quiet -D -c
standard:
xo:
prettier: --config --ignore-path --log-level --loglevel --ignore-unknown ! --check -c --list-different -l
biome check: --error-on-warnings
biome lint: --error-on-warnings
biome ci: --error-on-warnings
dprint check: --config
markdownlint: -c --config --ignore
markdownlint-cli2:
cspell: --no-progress --quiet -c --config --no-summary
commitlint: --from --to
shellcheck: -x -s -S -e -f --severity --shell --exclude --external-sources
shfmt: -i -s -ln -ci ! -d
bash: ! -n
sh: ! -n
bats: -r -t --recursive --tap
yamllint: -c -s --strict -d
actionlint: -verbose
hadolint: -c --config --failure-threshold
rspec: --format -f --fail-fast --tag -t -e
rubocop: --parallel --format --fail-level --config -P
standardrb: --no-fix
erb_lint: --lint-all
phpunit: --testsuite --filter --configuration -c --stop-on-failure --colors --no-coverage
pest: --filter --parallel
phpstan analyse: --level -l -c --configuration --no-progress --memory-limit
phpcs: --standard -p -s -n
php: ! -l
psalm: --no-cache --no-progress
mvn: -q -B -o ! =test
gradle: --offline -q --info ! =test =check
dotnet test: --no-build --no-restore --nologo --verbosity -v --filter -c --configuration
dotnet format: --no-restore --severity ! --verify-no-changes
swift test: --parallel --filter -q
swiftlint lint: --strict --quiet --config
mix test: --trace --only --exclude --seed --warnings-as-errors
mix format: ! --check-formatted
mix credo: --strict
zig test: -O
zig fmt: ! --check
stack test: --fast
cabal test: all
hlint:
luacheck: --std --no-color -q
ktlint: --relative
terraform validate: -no-color -json
terraform fmt: -recursive -diff ! -check
tofu validate: -no-color -json
helm lint: --strict
promtool check: config rules
gcc: -Wall -Wextra -Werror -pedantic -std -I -D ! -fsyntax-only
g++: -Wall -Wextra -Werror -pedantic -std -I -D ! -fsyntax-only
cc: -Wall -Wextra -Werror -pedantic -std -I -D ! -fsyntax-only
clang: -Wall -Wextra -Werror -pedantic -std -I -D ! -fsyntax-only
clang++: -Wall -Wextra -Werror -pedantic -std -I -D ! -fsyntax-only
clang-format: -Werror -style ! --dry-run -n
ctest: --test-dir --output-on-failure -j -R -E -L --build-config -C
git diff: --cached --staged --stat --name-only ! --exit-code --quiet --check
git fsck: --full --strict --no-progress
git verify-commit: -v
git verify-tag: -v
gzip: ! -t
xmllint: ! --noout
sha256sum: ! -c --check
jq empty:
`

// quiet are the programs that a recipe or a script may run beside those: they look or print. None of them takes a command.
var quiet = sync.OnceValue(func() map[string]bool {
	return words(`echo printf true false : test [ [[ set export unset local declare readonly shift return exit break continue wait
	read pwd ls cat head tail grep egrep fgrep rg find wc sort uniq cut tr diff cmp comm basename dirname realpath readlink date
	uname hostname which type mkdir seq expr sleep let getopts hash nproc column stat du file md5sum sha1sum sha256sum tsort awk sed
	jq yq gofmt goimports`)
})

// builders compile. In a recipe they write what the project is built into; typed, they may write anything.
var builders = sync.OnceValue(func() map[string]bool {
	return words(`gcc g++ cc c++ clang clang++ ld ar ranlib javac rustc ghc tsc webpack rollup esbuild babel swc tsup`)
})

// readers are the subcommands of programs that only tell something.
var readers = sync.OnceValue(func() map[string]bool {
	pairs := map[string]bool{}
	for _, pair := range strings.Split(`git status,git rev-parse,git describe,git ls-files,git diff,git log,git rev-list,git show,`+
		`git merge-base,git grep,git cat-file,git check-ignore,go list,go env,go version,go build,go tool cover,vite build,next build,`+
		`cargo metadata,npm pkg get,node --version,python3 --version`, ",") {
		pairs[pair] = true
	}
	return pairs
})

// harmful are words in a flag that say that it changes something, goes on for ever, or loads or runs something.
var harmful = sync.OnceValue(func() map[string]bool {
	return words(`fix write overwrite update upgrade watch watchall apply unsafe inplace place delete remove force fuzz exec execdir
	ok okdir fprint fprintf fls install publish push deploy upload save autocorrect auto edit clean purge prune eval toolexec
	vettool ext init config-init open serve ui web require import loader preload plugin plugins fplugin wrapper rulesdir hook hooks
	bootstrap rcfile success`)
})

type checker struct {
	flags, needs []string
}

var known = sync.OnceValue(func() map[string]checker {
	all := map[string]checker{}
	for line := range strings.SplitSeq(strings.ReplaceAll(strings.TrimSpace(checkers), "\n\t", " "), "\n") {
		name, flags, _ := strings.Cut(line, ":")
		may, needs, _ := strings.Cut(flags, "!")
		all[name] = checker{append(strings.Fields(may), strings.Fields(needs)...), strings.Fields(needs)}
	}
	return all
})

func words(text string) map[string]bool {
	all := map[string]bool{}
	for _, word := range strings.Fields(text) {
		all[word] = true
	}
	return all
}

// checksOnly reports whether a command, with its program as a name alone, is in the table. In a recipe it may have any other flag
// that is not harmful, too.
func checksOnly(command []string, inRecipe bool) bool {
	for n := min(3, len(command)); n > 0; n-- {
		c, found := known()[strings.Join(command[:n], " ")]
		switch {
		case !found:
			continue
		case runsFile()[command[0]]:
			return c.checksFile(command[n:])
		case slices.ContainsFunc(command[n:], isUntested) && testers()[command[0]], command[0] == "mocha" && !testsOnly(command[n:]):
			return false
		}
		needed := len(c.needs) == 0
		isTask := func(need string) bool { return strings.HasPrefix(need, "=") }
		for i, arg := range command[n:] {
			name, _, _ := strings.Cut(arg, "=")
			bare := strings.TrimRight(name, "0123456789") // -j4
			switch {
			case arg == "--":
				return (needed || slices.ContainsFunc(c.needs, func(need string) bool { return slices.Contains(command[n+i:], need) })) &&
					!slices.ContainsFunc(command[n+i:], isHarmful)
			case slices.ContainsFunc(c.needs, isTask) && slices.Contains(c.needs, "="+arg):
				needed = true
			case !strings.HasPrefix(arg, "-"):
				if slices.ContainsFunc(c.needs, isTask) {
					return false
				}
			case slices.Contains(c.needs, name):
				needed = true
			case slices.Contains(c.flags, arg), slices.Contains(c.flags, name), slices.Contains(c.flags, bare):
				if (name == "-c" || strings.HasPrefix(name, "--config")) && loadsCode(arg, command[n+i+1:]) {
					return false
				}
			case !inRecipe || isHarmful(arg) || bare == "-r" || bare == "-p" || loadsCode(arg, command[n+i+1:]):
				return false
			}
		}
		return needed
	}
	return false
}

// runsFile are the programs of the table that run the first file they are given, with all that is behind it as its arguments.
var runsFile = sync.OnceValue(func() map[string]bool { return words(`node bash sh php`) })

// checksFile reports whether the flags before the first file, which are those of the program itself, have it check only.
func (c checker) checksFile(args []string) bool {
	needed := false
	for i, arg := range args {
		switch {
		case slices.Contains(c.needs, arg):
			needed = true
		case slices.Contains(c.flags, arg):
		case arg != "--" && strings.ContainsAny(arg[:1], "-+"):
			return false
		default:
			return needed && (!slices.Contains(args[:i], "--test") || !slices.ContainsFunc(args[i:], isUntested))
		}
	}
	return needed
}

// testers run each file that they are given. One that is not called a test may do anything.
var testers = sync.OnceValue(func() map[string]bool {
	return words(`pytest unittest mocha ava bats rspec deno bun jest vitest phpunit pest`)
})

var codeFile = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\.(?:[cm]?[jt]sx?|py|rb|pl|php|sh|bash|lua|exs?|so|dylib|dll|cmake)$`)
})

// isUntested reports whether a word is a file of code that is called neither a test nor a configuration.
func isUntested(arg string) bool {
	return codeFile().MatchString(arg) && !isCalled(arg, `test tests spec specs e2e config conf`) && !strings.Contains(path.Base(arg), "rc.")
}

// testsOnly reports whether each word that is not a flag is called a test.
func testsOnly(args []string) bool {
	return !slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "/") && !isCalled(a, `test tests spec specs e2e`) })
}

// isCalled reports whether a part of a path is one of these words.
func isCalled(file, those string) bool {
	pieces := strings.FieldsFunc(strings.ToLower(snake(file)), func(r rune) bool { return r == '/' || isSeparator(r) })
	return slices.ContainsFunc(pieces, func(piece string) bool { return words(those)[piece] })
}

// loadsCode reports whether a flag has, in itself or behind it, a file of code that is called neither a test nor a configuration.
func loadsCode(flag string, behind []string) bool {
	if _, value, found := strings.Cut(flag, "="); found {
		return isUntested(value)
	}
	return isUntested(flag) || len(behind) > 0 && isUntested(behind[0])
}

// isHarmful reports whether a word is a flag that may change something.
func isHarmful(arg string) bool {
	if !strings.HasPrefix(arg, "-") {
		return false
	}
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	if !strings.HasPrefix(arg, "--") && (len(name) <= 3 && strings.ContainsAny(name, "iuwaAF") || strings.HasPrefix(name, "i")) {
		return true
	}
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(snake(name)), isSeparator), func(piece string) bool {
		return harmful()[piece]
	})
}

// isOutside reports whether a word names a place outside of the project.
func isOutside(arg string) bool {
	_, value, _ := strings.Cut(arg, "=")
	return strings.HasPrefix(arg, "/") || strings.HasPrefix(arg, "~") || strings.HasPrefix(value, "/") || strings.HasPrefix(value, "~") ||
		strings.Contains(strings.ReplaceAll(arg, "...", ""), "..")
}

func isSeparator(r rune) bool { return r == '-' || r == '_' || r == '.' || r == ' ' || r == ':' }

// snake returns a word with a space between the words of camelCase.
func snake(word string) string {
	var out strings.Builder
	for i, r := range word {
		if i > 0 && r >= 'A' && r <= 'Z' && word[i-1] >= 'a' && word[i-1] <= 'z' {
			out.WriteByte(' ')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// looksOnly reports whether a command of a recipe builds, looks or prints.
func looksOnly(command []string) bool {
	name, args := command[0], command[1:]
	if (builders()[name] || name == "mkdir" || name == "go" && slices.Contains(args, "build")) && slices.ContainsFunc(args, isOutside) {
		return false
	}
	if slices.ContainsFunc([]int{2, 3}, func(n int) bool { return len(command) >= n && readers()[strings.Join(command[:n], " ")] }) {
		return !slices.ContainsFunc(args[1:], func(a string) bool { return isHarmful(a) && a != "-a" || strings.HasPrefix(a, "--output") })
	}
	switch {
	case builders()[name]:
		return !slices.ContainsFunc(args, func(a string) bool { return isHarmful("--" + strings.TrimLeft(a, "-")) })
	case !quiet()[name]:
		return false
	}
	switch name {
	case "awk":
		return !slices.ContainsFunc(args, func(a string) bool { return strings.ContainsAny(a, "|>") || strings.Contains(a, "system") })
	case "sed":
		return slices.Contains(args, "-n") && !slices.ContainsFunc(args, func(a string) bool {
			return strings.HasPrefix(a, "-i") || strings.HasPrefix(a, "--in") || strings.ContainsAny(a, "we")
		})
	case "find", "yq", "gofmt", "goimports":
		return !slices.ContainsFunc(args, isHarmful)
	case "sort":
		return !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-o") || strings.HasPrefix(a, "--out") })
	case "date", "hostname":
		return !slices.ContainsFunc(args, func(a string) bool { return !strings.HasPrefix(a, "+") && a != "-u" })
	}
	return true
}
