# Bare `make` prints the targets.

SHELL       := /bin/bash -o pipefail
BIN         := bin
TOOLS       := $(BIN)/tools
REPORTS     := $(BIN)/reports
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
FUZZTIME    ?= 5s
SPEC_PROCS  ?= 4
LINTER      := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
NATS_CLI    := github.com/nats-io/natscli/nats@v0.5.0
VULNCHECK   := golang.org/x/vuln/cmd/govulncheck@v1.9.0
CYCLONEDX   := github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
GOFLAGS_VER := -ldflags '-X main.version=$(VERSION)'
# The packages that `go test` runs; the specs have a target of their own.
UNIT         = $(shell go list ./... 2>/dev/null | grep -v /specs)
# One package after the other: each wants the machine for itself.
STRESS      := go test -count=1 -p 1 -v -timeout 60m
# Where `make install` puts what MQ9 names, the unit, the configuration and the completions; DESTDIR goes before all of them.
MQ9         ?= $(BIN)/mq9
PREFIX      ?= /usr/local
SYSCONFDIR  ?= /etc
UNITDIR     ?= $(PREFIX)/lib/systemd/system
SUDO        := $(if $(filter 0,$(shell id -u)),,sudo)
DEBIAN      := g++ librocksdb-dev liblz4-dev libsnappy-dev libzstd-dev libbz2-dev zlib1g-dev libgflags-dev

.DEFAULT_GOAL := help
.PHONY: help run build install dist test test-crash test-long test-dist vuln licences licences-check lint vet unit race specs stress clients page screenshots fuzz bench bench-quick bench-compare peers fmt tools rocksdb strace chromium redis clean

help: ## print this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## install what is missing, build, and serve on 127.0.0.1:4222
	$(BIN)/mq9 serve

build: rocksdb ## bin/mq9
	go build $(GOFLAGS_VER) -o $(BIN)/mq9 ./cmd/mq9

install: ## what was built, with unit, configuration and completions: PREFIX (/usr/local), SYSCONFDIR (/etc), DESTDIR
	@test -x $(MQ9) || { echo "$(MQ9) is not there: run make build first" >&2; exit 1; }
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(UNITDIR) $(DESTDIR)$(SYSCONFDIR)/mq9
	install -m 0755 $(MQ9) $(DESTDIR)$(PREFIX)/bin/mq9
	sed -e 's|@BINDIR@|$(PREFIX)/bin|' -e 's|@CONFDIR@|$(SYSCONFDIR)/mq9|' cmd/mq9/packaging/mq9.service >$(DESTDIR)$(UNITDIR)/mq9.service
	install -m 0644 cmd/mq9/packaging/mq9.toml $(DESTDIR)$(SYSCONFDIR)/mq9/mq9.toml.example
	test -e $(DESTDIR)$(SYSCONFDIR)/mq9/mq9.toml || install -m 0644 cmd/mq9/packaging/mq9.toml $(DESTDIR)$(SYSCONFDIR)/mq9/mq9.toml
	cmd/mq9/packaging/completions $(MQ9) $(addprefix $(DESTDIR)$(PREFIX)/share/,bash-completion/completions zsh/site-functions fish/vendor_completions.d)

dist: rocksdb $(TOOLS)/cyclonedx-gomod ## a tarball that needs nothing else on Linux, RocksDB inside: into bin/dist
	cmd/mq9/packaging/dist $(VERSION) $(TOOLS)/cyclonedx-gomod

test: ## everything that CI checks, with totals at the end
	.ci/test

lint: rocksdb $(TOOLS)/golangci-lint ## golangci-lint, formatting included
	$(TOOLS)/golangci-lint run ./...

vet: rocksdb ## go vet
	go vet ./...

unit: rocksdb ## the tests beside the code, with the race detector
	@mkdir -p $(REPORTS)
	@go test -race -v -timeout 10m $(UNIT) >$(REPORTS)/unit.log 2>&1; code=$$?; \
		if [ $$code -ne 0 ]; then grep -v -E '^=== |^ *--- PASS' $(REPORTS)/unit.log; else grep -E '^ok ' $(REPORTS)/unit.log; fi; exit $$code

race: unit specs stress ## unit tests and specs, all with the race detector

specs: $(BIN)/mq9-race ## the behaviour specs against a race-built binary
	@mkdir -p $(REPORTS)
	MQ9_BIN=$(BIN)/mq9-race go tool ginkgo run --no-color --procs=$(SPEC_PROCS) --race --timeout 10m ./specs 2>&1 | tee $(REPORTS)/specs.log

stress: $(BIN)/mq9-race strace ## kills, failing disks, random plans against a model, pressure: the short runs
	@mkdir -p $(REPORTS)
	MQ9_BIN=$(BIN)/mq9-race $(STRESS) ./specs/crash ./specs/faults ./specs/model ./specs/pressure 2>&1 | tee $(REPORTS)/stress.log

test-crash: $(BIN)/mq9-race ## 200 kills at random instants, and nothing acknowledged lost
	MQ9_BIN=$(BIN)/mq9-race $(STRESS) ./specs/crash -kills 200

test-long: $(BIN)/mq9-race test-crash ## also 10,000 random plans, and pressure in full size
	MQ9_BIN=$(BIN)/mq9-race $(STRESS) ./specs/model -seeds 10000
	MQ9_BIN=$(BIN)/mq9-race $(STRESS) ./specs/pressure -full

test-dist: dist ## the tarball, in an empty root
	@mkdir -p $(REPORTS)
	MQ9_DIST=$(BIN)/dist go tool ginkgo run --no-color --timeout 10m ./specs/dist 2>&1 | tee $(REPORTS)/test-dist.log

clients: $(BIN)/mq9-race $(TOOLS)/nats specs/clients/node_modules chromium ## the same flows through the nats command, nats.js, and nats.js in Chromium
	@mkdir -p $(REPORTS)
	MQ9_BIN=$(BIN)/mq9-race NATS_CLI=$(TOOLS)/nats go tool ginkgo run --no-color --race --timeout 10m ./specs/clients 2>&1 | tee $(REPORTS)/clients.log

page: $(BIN)/mq9-race chromium ## the broker's page in headless Chromium
	@mkdir -p $(REPORTS)
	MQ9_BIN=$(BIN)/mq9-race go tool ginkgo run --no-color --race --timeout 10m ./specs/page 2>&1 | tee $(REPORTS)/page.log

screenshots: build chromium ## make the pictures of the page that the README shows
	go run ./specs/page/screenshots -bin $(BIN)/mq9

fuzz: rocksdb ## every fuzz target for FUZZTIME (5s)
	@mkdir -p $(REPORTS)
	.ci/fuzz $(FUZZTIME) 2>&1 | tee $(REPORTS)/fuzz.log

vuln: rocksdb $(TOOLS)/govulncheck ## known vulnerabilities that the code can reach
	.ci/vuln $(TOOLS)/govulncheck

licences: ## write the list of what the binary carries, and under which licences
	@mkdir -p $(BIN)
	go run ./cmd/mq9/packaging/licences list >$(BIN)/LICENCES.md && mv $(BIN)/LICENCES.md cmd/mq9/packaging/licences/LICENCES.md

licences-check: ## whether that list is up to date, and all of them are allowed
	go run ./cmd/mq9/packaging/licences check

bench: build peers ## side by side with other brokers, 15 minutes on an idle machine: the table, and benchmarks/RESULTS.md
	go run ./benchmarks/compare -out benchmarks

bench-quick: build peers ## the same in small, in 2 minutes: the table only
	go run ./benchmarks/compare -quick

bench-compare: rocksdb ## the micro-benchmarks of this tree against those of the commit REF=...
	.ci/bench-compare $(REF)

fmt: $(TOOLS)/golangci-lint ## format all Go files
	$(TOOLS)/golangci-lint fmt ./...

tools: $(TOOLS)/golangci-lint $(TOOLS)/nats ## the linter and the nats command, into bin/tools

clean: ## remove what was built
	rm -rf $(BIN) specs/clients/node_modules

# Debian's RocksDB and what linking it needs; nothing happens when it is there.
rocksdb:
	@{ test -e /usr/include/rocksdb/c.h && command -v g++ >/dev/null; } || { $(SUDO) apt-get update && $(SUDO) apt-get install -y --no-install-recommends $(DEBIAN); }

# What `make bench` compares with: nats-server of the very version that is embedded, and Debian's Redis.
peers: redis
	go build -o $(BIN)/peers/nats-server github.com/nats-io/nats-server/v2

# RUNLEVEL=1 keeps the package from starting a server of its own.
redis:
	@command -v redis-server >/dev/null || { $(SUDO) apt-get update && $(SUDO) env RUNLEVEL=1 apt-get install -y --no-install-recommends redis-server; }

# For the specs that look at what the broker asks of the system.
strace:
	@command -v strace >/dev/null || { $(SUDO) apt-get update && $(SUDO) apt-get install -y --no-install-recommends strace; }

# For the specs of what runs in a browser, and for the pictures of the page.
chromium:
	@command -v chromium >/dev/null || { $(SUDO) apt-get update && $(SUDO) apt-get install -y --no-install-recommends chromium fonts-dejavu-core; }

$(BIN)/mq9-race: rocksdb FORCE
	go build -race $(GOFLAGS_VER) -o $@ ./cmd/mq9

$(TOOLS)/golangci-lint:
	GOBIN=$(CURDIR)/$(TOOLS) go install $(LINTER)

$(TOOLS)/nats:
	GOBIN=$(CURDIR)/$(TOOLS) go install $(NATS_CLI)

$(TOOLS)/govulncheck:
	GOBIN=$(CURDIR)/$(TOOLS) go install $(VULNCHECK)

$(TOOLS)/cyclonedx-gomod:
	GOBIN=$(CURDIR)/$(TOOLS) go install $(CYCLONEDX)

specs/clients/node_modules: specs/clients/package-lock.json
	cd specs/clients && npm ci --no-audit --no-fund
	@touch $@

.PHONY: FORCE
FORCE:
