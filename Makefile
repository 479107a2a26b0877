# `make help` lists every target. Only Go and Python 3.11 are needed.
GO ?= go
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.8.0
GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# Prints a line for each package and, at the end, every failure and every skipped test with what it lacks. `make verify` vets, with more analyzers.
# Nothing reads the debugging tables of a test program, and writing them is half of its linking.
TESTS := $(GO) run gotest.tools/gotestsum@v1.13.0 --format pkgname-and-test-fails -- -vet=off -ldflags='-s -w'

# What a binary says it was built from. The image and archives of a source without a repository are given REVISION=….
REVISION ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null && git status --porcelain | grep -q . && echo +changes)
override REVISION := $(subst $() ,,$(REVISION))
STAMP = -ldflags "-s -w -X main.revision=$(REVISION)"

.PHONY: help run build install release image clients test repeat soak race verify generate protos events lint checker architecture vulncheck sbom bench screenshots fuzz clean

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

run: build ## run the service with everything embedded
	./reckon serve

build: ## build the binary ./reckon
	$(GO) build $(STAMP) -o reckon ./cmd/reckon

install: ## put the command reckon where Go keeps its commands
	$(GO) install $(STAMP) ./cmd/reckon

# The same revision gives the same archives, on any machine with this version of Go.
release: ## write dist/: archives for linux amd64 and arm64, the list of parts, checksums, and the image where a builder is there
	@case "$(REVISION)" in ''|*+changes) echo "a release is made of a commit, and these files are in none:"; git status --short; exit 1;; esac
	rm -rf dist/reckon-* dist/SHA256SUMS && mkdir -p dist
	@set -e; for arch in amd64 arm64; do \
	  name=reckon-$(REVISION)-linux-$$arch; mkdir dist/$$name; \
	  GOOS=linux GOARCH=$$arch CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false $(STAMP) -o dist/$$name/reckon ./cmd/reckon; \
	  cp LICENSE NOTICE CHANGELOG.md cmd/reckon/third_party_licences.txt docs/verify.py docs/verify_log.py docs/verify_account.py dist/$$name; \
	  cp docs/installing.md dist/$$name/README.md; \
	  tar -C dist --sort=name --mtime=@$$(git show -s --format=%ct) --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r-w -cf - $$name | gzip -9n >dist/$$name.tar.gz; \
	  rm -r dist/$$name; done
	$(GO) run ./internal/supplychain sbom dist/reckon-$(REVISION).cdx.json
	@if docker info >/dev/null 2>&1; then $(MAKE) --no-print-directory image && docker save reckon:$(REVISION) | gzip -9n >dist/reckon-$(REVISION)-image.tar.gz; \
	  else echo "no image: docker has no engine here"; fi
	cd dist && sha256sum reckon-* >SHA256SUMS && cat SHA256SUMS

image: ## build the image reckon
	docker build -f docs/deploy/Dockerfile --build-arg REVISION=$(REVISION) -t reckon -t reckon:$(REVISION) .

clients: ## write dist/clients: Python and TypeScript clients, generated, with the check of receipts
	docs/clients/generate.sh dist/clients

# The packages that take longest are begun first. Tests wait more than they compute: more of them run at once than there are processors.
test: ## run every test, with the real engine, node and databases
	$(TESTS) -count=1 -p 4 -parallel 4 -timeout 30m ./test/e2e ./test/processes ./cmd/reckon ./... # -count=1: the cache does not see the binaries that tests build

# SINCE is a commit; by default the newest that is a day older than this one. The packages that changed most are run first.
TIMES ?= 3
MINUTES ?= 600
SINCE ?= $(shell git rev-list -1 --before=$$(($$(git show -s --format=%ct) - 86400)) HEAD)
CHANGED = $(shell git diff --numstat $(SINCE) -- '*.go' | while read added removed file; do folder=$$(dirname $$file); \
  if ls $$folder/*_test.go >/dev/null 2>&1; then echo "$$((added + removed)) ./$$folder"; fi; done | awk '{n[$$2] += $$1} END {for (f in n) print n[f], f}' | sort -rn | cut -d' ' -f2)
repeat: ## the packages that changed since SINCE, TIMES times in a row; none is begun after MINUTES
	@end=$$(($$(date +%s) + 60 * $(MINUTES))); for package in $(CHANGED); do \
	  if [ $$(date +%s) -ge $$end ]; then echo "not repeated, $(MINUTES) minutes are over: $$package"; continue; fi; \
	  $(TESTS) -count=$(TIMES) -parallel 4 -timeout 60m $$package || exit 1; done

# The tests that take their size from test/sweep: written by go test ./test -run TestSweepsPage -update
SOAK = TestAYearOfSubscriptions|TestAerNoise|TestAgreesOnMutants|TestBattery|TestBlindSearchesVerifyNothing|TestBuiltIsTrue|TestBurstRowsAreTheDerivation|TestBurstsOfTheLog|TestChangesThatMeanNothingAreAccepted|TestChaos|TestClasses|TestEscapes|TestEstimateBoundsResidentMemory|TestEventStoreClients|TestEventStoreGoSuite|TestEveryChangeOfADerivedFieldIsRefused|TestEveryProgramHeadHasPairs|TestEveryProofHasNearMisses|TestEveryRuleHasPairs|TestForms|TestGenerated|TestGeneratedClients|TestHistoryHunter|TestHuntedEnvironmentsHaveNoHistory|TestHunterFindsNoFalse|TestIndependent|TestIntegrals|TestJobsSurviveKilledRunners|TestKilledRebuild|TestLargeAndSmallCircuits|TestLargeMessagesOfManyShareTheMemory|TestLeanCheckStaysWithinItsMemory|TestLinters|TestMCPClients|TestMCPConformance|TestManyUploadsAtOnce|TestMutantsOfRealExportsShowWhatTheyMean|TestNanodaAgrees|TestNearLevelsCompareAsTheirValues|TestNearMissesAreNotRecognised|TestNothingAcknowledgedIsLost|TestNothingIsLeftBehind|TestOAuthProbe|TestOfficialClients|TestPlainKernelAgreesOnClaims|TestPlainKernelAgreesOnGeneratedEnvironments|TestPlantedFaultsAreFound|TestPrograms|TestProgramsAgainstEngine|TestProofs|TestQiskitPrograms|TestReadingOfSentences|TestResultJSON|TestRollingRestart|TestSchemathesis|TestSeveralStreamsAreKilledTogether|TestStateForNumPy|TestStranger|TestTheWindowCutsNoBurst|TestUnknownFunctionsInProgramsGiveNoVerdict|TestUpgradeUnderLoad|TestWalkOfProjections|TestWhatCallersAreTold|TestWhichEvidenceFindsWhat
SOAKED = ./cmd/reckon ./domain/audit ./domain/circuit ./domain/lean/internal/attack ./domain/lean/kernel ./domain/lean/plain ./eventstore/node ./projections ./runners/engine ./runners/engine/fricas ./test ./test/answers ./test/billing ./test/clients ./test/e2e ./test/processes ./test/reference ./test/verification
# end of sweeps

soak: export RECKON_SWEEP = whole
soak: ## what takes minutes: whole sweeps, foreign suites
	$(TESTS) -count=1 -p 4 -parallel 4 -timeout 60m -run '^($(SOAK))$$' ./test/processes ./test/verification ./test/reference $(SOAKED) # the longest first

race: ## the packages where goroutines meet, under the race detector
	$(TESTS) -race -short -timeout 30m ./commands/... ./eventstore/... ./projections/... ./internal/... ./readapi/... ./writeapi/... ./runners/... \
	  ./domain/circuit ./domain/lean/check ./domain/lean/export

verify: ## generated files up to date, vet, lint, the checker's own tools, import rules
	@state() { git status --porcelain; git diff | cksum; }; before="$$(state)"; \
	$(MAKE) --no-print-directory generate && \
	if [ "$$before" != "$$(state)" ]; then git status --short; echo "generated files were out of date: commit what \`make generate\` wrote"; exit 1; fi
	$(GO) vet ./...
	$(GO) vet -tags bench ./test/bench
	$(MAKE) --no-print-directory lint checker architecture

protos: ## write the Go code of the .proto files; run it when one changes
	$(GO) generate -run buf ./eventstore/node/protos

generate: ## write everything that is generated from declarations
	$(GO) generate -run internal/lists ./projections ./readapi ./writeapi
	$(GO) generate -skip 'buf|internal/lists' ./...
	$(GO) test ./test -run "TestImportTable|TestLimitsPage|TestWhatIsNotServed|TestAccessPage|TestSweepsPage|TestTimesPage|TestOutagesPage" -update
	$(GO) test ./domain/audit -run "TestDocsList" -update
	$(GO) test ./internal/telemetry -run TestMetricsPage -update
	$(GO) test ./internal/tracing -run TestTracesPage -update
	@$(MAKE) --no-print-directory events

events: ## golden files of every event and docs/events
	$(GO) test ./domain -run TestGolden -update
	$(GO) test ./test/events -run TestEventDocs -update

lint: ## golangci-lint, pinned
	$(GO) run $(GOLANGCI) run ./...

checker: ## the checker's Python: format, lint, types, tests, by pinned tools
	runners/checker/python/verify.sh

architecture: ## who may import whom
	$(GO) test ./test

vulncheck: ## known vulnerabilities in what is called (skipped, with a word, where the tool or its database cannot be had)
	@tool="$$(mktemp -d)" && trap 'rm -rf "$$tool"' EXIT && \
	if ! GOBIN="$$tool" $(GO) install $(GOVULNCHECK) >"$$tool/says" 2>&1; then \
	  tail -1 "$$tool/says"; echo "vulncheck: SKIPPED: $(GOVULNCHECK) cannot be had here"; exit 0; fi; \
	"$$tool/govulncheck" ./... >"$$tool/says" 2>&1; status=$$?; cat "$$tool/says"; \
	if [ $$status -ne 0 ] && [ $$status -ne 3 ] && grep -q 'fetching vulnerabilities' "$$tool/says"; then \
	  echo "vulncheck: SKIPPED: the database of vulnerabilities cannot be reached from here"; exit 0; fi; \
	exit $$status

sbom: ## list all parts of the binary and of the engine's environment as CycloneDX, in reckon.cdx.json
	$(GO) run ./internal/supplychain sbom reckon.cdx.json

bench: ## figures as ratios to a limit or a peer of the same run (docs/bench)
	RECKON_TEST_POSTGRES_FSYNC=on $(GO) test -tags bench -run '^$$' -bench . -benchtime 1x -timeout 60m ./test/bench

screenshots: ## pictures of the workbench's pages, in docs/workbench
	RECKON_SCREENSHOTS=$(CURDIR)/docs/workbench $(GO) test -count=1 ./test/e2e -run 'TestWorkbench$$|TestOperatorsPages'

fuzz: ## every fuzz target for FUZZTIME (default 60s each; 1000x is a thousand inputs each, as in CI)
	@grep -rlE '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u | while read p; do \
	  grep -hoE '^func Fuzz[A-Za-z0-9_]+' $$p/*_test.go | cut -c6- | while read f; do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $${FUZZTIME:-60s} $$p </dev/null || exit 1; done || exit 1; done

clean: ## remove what was built; data folders stay
	rm -rf reckon reckon.cdx.json dist
