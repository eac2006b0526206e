# make demo and make test are all that a fresh clone needs; make help lists the rest.
# Needed: Go, make and git; gcc only for make race.

# One set of flags for whatever compiles, so that each package is compiled once: those of a release.
# make vet does what go test would do of go vet, and more; GOGC is for the compiler.
export CGO_ENABLED ?= 0
export GOFLAGS     := -trimpath -ldflags=-w -vet=off $(GOFLAGS)
export GOGC        ?= 400

# Only of this repository: an unpacked archive may lie in another one.
in_git      := $(wildcard .git)
describe    := $(if $(in_git),$(shell git describe --tags --match 'v[0-9]*' --always --abbrev=12 --dirty 2>/dev/null))
commit      := $(if $(in_git),$(shell git rev-parse HEAD 2>/dev/null))
ldflags     := -s -w -X github.com/fsmtx/fsmtx/internal/programs.describe=$(describe) -X github.com/fsmtx/fsmtx/internal/programs.commit=$(commit)
staticcheck := go run honnef.co/go/tools/cmd/staticcheck@v0.8.2
vulncheck   := go run golang.org/x/vuln/cmd/govulncheck@v1.8.0
TIME        ?= 30s
TARGETS     ?=
SAMPLE      ?= 0
STATES      ?= 0
SOAK        ?= 1h
TOGETHER    ?= 60s
AGENTS      ?=
RUN         ?=
OF          ?=
SEED        ?= 0
ONE_IN      ?= 1

.PHONY: build version dist dist-check npm man notes demo test quick race ci nightly tidy format vet staticcheck cross cross-sample fuzz fuzz-sample oracle e2e e2e-newest fidelity agents agents-changed bench enforcement transitions crashtest disks mutants mutants-changed together soak install clean help

build: ## build bin/fsmtx, and bin/fsmtx-tools, which it becomes for a command that it does not have
	go build -ldflags '$(ldflags)' -o bin/fsmtx ./cmd/fsmtx
	go build -ldflags '$(ldflags)' -o bin/fsmtx-tools ./cmd/fsmtx-tools

# The time of the commit is that of every file in an archive.
dist        := SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$(if $(in_git),$(shell git log -1 --format=%ct 2>/dev/null))} \
               go run -ldflags '$(ldflags)' ./internal/harness/dist -ldflags '$(ldflags)'

version: ## print the version
	@$(dist) -version

dist: ## build what a release consists of, into dist/: archives for every platform, SBOM, checksums
	@$(dist)
	@cd dist && cat SHA256SUMS

npm: dist ## add the packages for npm to dist/
	@$(dist) -npm
	@cd dist && ls *.tgz

dist-check: dist ## build dist/ a second time, from a copy in another directory, and compare
	@copy=$$(mktemp -d) && trap 'rm -rf '$$copy EXIT && git ls-files -z | tar -cf - --null -T - | tar -xf - -C $$copy && \
	  $(dist) -source $$copy -out $$copy/dist && cmp dist/SHA256SUMS $$copy/dist/SHA256SUMS && echo "built twice: the same bytes"

man: ## write the manual pages into bin/man/man1; man -M bin/man fsmtx
	@$(dist) -man bin/man/man1

notes: ## print the release notes of this version, from CHANGELOG.md
	@$(dist) -notes

demo: build ## show what the program does, in a temporary directory
	@bin/fsmtx demo

# Some packages mostly wait, so four are built or tested at a time, beginning with those that take longest.
slow := ./internal/harness/crash ./internal/tools ./internal/gates ./internal/harness/dist ./internal/command ./internal/harness/together

test: ## run every test, and list what was skipped and why (in CI an unexpected skip is an error)
	go run ./internal/harness/skips -p 4 -timeout 20m $(slow) ./...

# What a change concerns, as packages: those with a file that differs from origin/main.
changed := go run ./internal/harness/changed

quick: ## in half a minute what most changes break: build all; format, vet and the short tests of what differs from main and of what imports it (the harness and fuzz apart)
	go build ./...
	@$(MAKE) --no-print-directory format
	@all="$$($(changed) -importers | grep -v -e /harness/ -e '^./fuzz$$')"; test -z "$$all" || { go vet $$all && go test -short -p 4 $$all; }

race: ## run every test with the race detector
	CGO_ENABLED=1 GORACE=atexit_sleep_ms=0 go test -p 4 -race -timeout 1h ./...

# What waits for clients and disks runs beside what needs the processor.
ci: tidy format vet staticcheck cross-sample ## everything that continuous integration runs
	@$(MAKE) --no-print-directory -j2 $(if $(filter output-sync,$(.FEATURES)),-O) \
	  mutants-changed e2e-sample agents-changed fuzz-sample together oracle
	@$(MAKE) --no-print-directory test

# The hour of the soak goes beside the rest; a part that fails does not keep the others from being run.
nightly: ## all that is too long for continuous integration, in two or three hours (make nightly 2>&1 | grep ^nightly: lists how long each part took)
	@$(MAKE) --no-print-directory -k -j2 $(if $(filter output-sync,$(.FEATURES)),-O) TIME=1m $(patsubst %,nightly-%, \
	  soak race e2e agents fidelity crashtest fuzz disks enforcement dist-check)

nightly-%:
	@start=$$(date +%s); $(MAKE) --no-print-directory $*; code=$$?; \
	  echo "nightly: $* ended with $$code after $$((($$(date +%s) - start) / 60)) minutes"; exit $$code

tidy: ## fail if go.mod or go.sum are not tidy
	go mod tidy -diff
	go mod verify

format: ## fail if a file is not formatted
	@out=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$out" || { echo "gofmt would change:"; echo "$$out"; exit 1; }

vet: ## run go vet
	go vet ./...
	go vet -tags e2e ./internal/harness/e2e
	GOOS=linux go vet -tags disks ./internal/harness/disks

staticcheck: ## run staticcheck
	$(staticcheck) ./...

.PHONY: vulncheck
vulncheck: ## look for known vulnerabilities in what the programs call (needs the network)
	$(vulncheck) ./...

cross: ## compile for every system, unoptimised, and vet all for Windows, also on arm64; make dist does it for every platform (ONE_IN=2 takes half of them, each day others)
	@n=0; for s in linux darwin windows; do test $$s = "$$(go env GOOS)" && continue; n=$$((n+1)); \
	  test $$((n % $(ONE_IN))) = $$(($$(date +%d | sed s/^0//) % $(ONE_IN))) || continue; echo "building for $$s"; \
	  GOOS=$$s go build -gcflags='all=-N -l' -o /dev/null ./cmd/fsmtx ./cmd/fsmtx-tools || exit 1; done
	for a in amd64 arm64; do GOOS=windows GOARCH=$$a go vet ./... || exit 1; done

.PHONY: windows
windows: ## run in wine what is tested on Windows: files, locks, deaths and faults of a transaction, a session (fetches wine once; says so where it cannot)
	@internal/harness/windows/run.sh $${FSMTX_WINE:-$$HOME/.cache/fsmtx-wine}

cross-sample:
	@$(MAKE) --no-print-directory cross ONE_IN=2

# A run that ends at its time may fail with nothing but "context deadline exceeded"
# (go.dev/issue/75804, in every Go before 1.27). A failing input is always written to a
# file and named; without one the target's whole corpus is run again, and that decides.
# If the time sufficed for the seeds only, the target gets a minute.
fuzz: ## run every fuzz target for TIME each (default 30s; TARGETS=MCP chooses, ONE_IN=3 takes a third, each day another)
	@dir=$$(mktemp -d); trap 'rm -rf '$$dir EXIT; cache=$$(go env GOCACHE)/fuzz; \
	for pkg in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n 1 dirname | sort -u); do \
	  go test -c -fuzz . -o $$dir/fuzz.test $$pkg || exit 1; \
	  run() { (cd $$pkg && $$dir/fuzz.test -test.fuzzcachedir $$cache/$$pkg -test.fuzzminimizetime 20x "$$@") >$$dir/out 2>&1; }; \
	  for target in $$($$dir/fuzz.test -test.list '^Fuzz.*($(TARGETS))' | awk -v day=$$(date +%j) 'NR % $(ONE_IN) == day % $(ONE_IN)'); do \
	    for time in $(TIME) 1m; do \
	      echo "fuzzing $$pkg $$target for $$time"; \
	      if ! run -test.run '^$$' -test.fuzz "^$$target\$$" -test.fuzztime $$time; then \
	        cat $$dir/out; \
	        grep -q '^ *context deadline exceeded$$' $$dir/out && ! grep -q 'Failing input written' $$dir/out || exit 1; \
	        echo "no failing input was written: running the corpus of $$target"; \
	        run -test.run "^$$target\$$" || { cat $$dir/out; exit 1; }; \
	        break; \
	      fi; \
	      grep -v '^PASS' $$dir/out | tail -n 1; \
	      ! grep -q 'new interesting' $$dir/out || break; \
	      test $$time != 1m || { echo "only the seeds of $$target were run"; exit 1; }; \
	    done || exit 1; \
	  done || exit 1; \
	done

fuzz-sample:
	@$(MAKE) fuzz ONE_IN=4 TIME=5s

oracle: ## compare the machine with a program in Python that has the same rules (SEED=N for other workflows; needs python3)
	go vet -tags oracle ./internal/machine
	SEED=$(SEED) go test -tags oracle -count=1 -v -run Oracle ./internal/machine

e2e: ## run the real client against a fake model (needs npm; says so if it is missing)
	go test -tags e2e -count=1 -v -timeout 1h ./internal/harness/e2e

e2e-sample:
	go test -tags e2e -count=1 -v -timeout 20m -run 'TestAQuestion|TestALineRefuses|TestAFailureBlocks|TestTypedSkill|TestInvalidWorkflow|TestSkillInvokedAgain|TestSubagentShares|TestResumeRecovers|TestAFreshInstall|TestThePictureIsCurrent' ./internal/harness/e2e

e2e-newest: ## compare the folders and the options of skills with the newest client (needs npm and the network)
	FSMTX_E2E_VERSION=latest go test -tags e2e -count=1 -v -run 'TestLocatorAgrees|TestOptionsOfTheClient|TestTheTranscript' ./internal/harness/e2e

fidelity: ## ask the real agents what they make of the hooks in testdata/hooks/fidelity (needs npm; says so if it is missing)
	go vet -tags fidelity ./internal/harness/fidelity
	@out=$$(mktemp); go test -tags fidelity -count=1 -v -timeout 20m ./internal/harness/fidelity >$$out 2>&1; code=$$?; \
	  grep -v -e '^=== ' -e '^ *--- PASS' $$out; rm -f $$out; exit $$code

agents: ## run Codex, Copilot CLI, Gemini CLI, Qwen Code and opencode with our hooks and our server (needs npm; says so if it is missing; AGENTS="codex copilot" chooses)
	go vet -tags agents ./internal/harness/agents
	FSMTX_AGENTS="$(AGENTS)" go test -tags agents -count=1 -v -timeout 1h ./internal/harness/agents

agents-changed:
	@if $(changed) -among '/(agent|hook|mcp|settings|install|harness/agents)$$' | grep .; then $(MAKE) agents AGENTS='codex copilot'; fi

together: ## a minute (TOGETHER=20s for less) beside the client's own locking library (needs node and npm; says so if they are missing)
	go vet -tags together ./internal/harness/together
	FSMTX_TOGETHER=$(TOGETHER) go test -tags together -count=1 -v -timeout 10m -run 'Library|DeadClient' ./internal/harness/together

bench: ## time the hooks against the least they can cost (as root on Linux, also on disks whose flush takes 2 ms)
	go run ./internal/harness/bench/hydrate
	go run ./internal/harness/bench/steps
	go run ./internal/harness/bench/scale

enforcement: ## for each update that has to be denied: every fault, failing system call, damaged byte, swap and death (about five minutes)
	go test -count=1 -v -timeout 2h -run Enforcement ./internal/gates ./internal/harness/crash -every
	go test -count=1 -v -run Enforcement ./internal/hydrate

transitions: ## for each transition of a workflow with outcomes: every death, two deaths, fault and power cut, with every next event, in hours (RUN='SecondDeath' and OF='^a loop$$' choose a part)
	go test -count=1 -v -timeout 0 -run 'Transition.*($(RUN))' ./internal/harness/crash -every -of '$(OF)'

crashtest: ## try every crash and every power cut of a change of the list, and print the tables (those of transitions: make transitions)
	go test -count=1 -v -timeout 2h -run 'Power|Barrier|Death|Fault' -skip Transition ./internal/harness/crash -every

disks: ## cut the power of real file systems, at STATES points of each operation, 0 for all (needs Linux and root; says so otherwise)
	go test -tags disks -c -o bin/disks.test ./internal/harness/disks
	@run=; test "$$(id -u)" = 0 || ! sudo -n true 2>/dev/null || run='sudo -n'; $$run bin/disks.test -test.v -test.timeout 3h -states $(STATES)

mutants: ## change one place at a time and require that a test fails, in a day (PACKAGES chooses packages, SAMPLE=N tries N mutants)
	go run ./internal/harness/mutants -sample $(SAMPLE) $(PACKAGES)

mutants-changed: ## try forty mutants of two of the packages that differ from main (but those whose tests are sessions of minutes), for at most fifteen seconds of the processor each; fail if more than half of them survive, or none was tried
	@two="$$($(changed) -among '^./(fsmspec|locator|txn|internal/)' | grep -v -e harness -e '/command$$' -e '/tools$$' | \
	  awk -v at=$$(git rev-list --count HEAD) '{ a[NR] = $$0 } END { for (i = 0; i < 2 && i < NR; i++) print a[(at + i) % NR + 1] }')"; \
	  test -z "$$two" || go run ./internal/harness/mutants -sample 40 -seed 1 -most 50 -for 15s $$two

soak: ## for an hour (SOAK=10m for ten minutes), everything at once on one list, with kills, wrong clocks and full disks
	go vet -tags together ./internal/harness/together
	FSMTX_TOGETHER=$(SOAK) go test -tags together -count=1 -v -timeout 0 -run 'EverythingAtOnce|TheSoakFinds' ./internal/harness/together

install: build ## install the programs into GOBIN
	go install -ldflags '$(ldflags)' ./cmd/fsmtx
	go install -ldflags '$(ldflags)' ./cmd/fsmtx-tools

clean: ## remove what was built
	rm -rf bin dist

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14
