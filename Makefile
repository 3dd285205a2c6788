# Builds, tests and installs zg-env. `make help` lists what there is.

PREFIX ?= /usr/local
DESTDIR ?=
BINDIR = $(DESTDIR)$(PREFIX)/bin

PROGRAMS = zg-env zg-env-sandbox
RELEASE = .build/release

# An import of a target that Package.swift does not name as a dependency fails.
SWIFT_FLAGS = --explicit-target-dependency-import-check error

# A crash must not write memory that may hold secrets into a backtrace.
export SWIFT_BACKTRACE = enable=no

.DEFAULT_GOAL := help
.PHONY: help demo test openapi build check setup setup-tests setup-openapi install uninstall clean
# One build at a time: two of them in one directory would only wait for each other.
.NOTPARALLEL:

help: ## Show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | \
		while IFS= read -r line; do \
			printf '  make %-12s %s\n' "$${line%%:*}" "$${line##*## }"; \
		done

demo: build ## Build, and show the main job against the sandbox, in a temporary home
	Tests/Demo/demo.sh $(RELEASE)/zg-env $(RELEASE)/zg-env-sandbox

test: setup-tests ## Build for tests, and run them all
	swift build --build-tests $(SWIFT_FLAGS)
	swift test --skip-build --disable-xctest $(SWIFT_FLAGS)

openapi: setup-openapi ## Hold commands and sandbox against the platform's own description (Python)
	swift build --build-tests $(SWIFT_FLAGS)
	Tests/OpenAPI/run

# Program by program, because the whole package holds what only tests use and a static build cannot
# have. What both need is compiled once.
build: setup ## Build .build/release/zg-env and .build/release/zg-env-sandbox, static
	@for program in $(PROGRAMS); do \
		echo "swift build -c release --product $$program"; \
		swift build -c release --static-swift-stdlib $(SWIFT_FLAGS) --product $$program || exit 1; \
	done

check: setup-tests ## Lint, and build everything with warnings as errors
	swift format lint --strict --parallel --recursive Package.swift Sources Tests
	swift build --build-tests $(SWIFT_FLAGS)

setup: ## Install the C libraries that are missing (apt-get)
	@.ci/set-up build

setup-tests: ## Install what is missing for the tests too
	@.ci/set-up build tests

setup-openapi: ## Install what is missing to check against the platform's description
	@.ci/set-up build tests openapi

# The programs are built before, by the user: root may have no Swift toolchain.
install: ## Install into PREFIX (/usr/local) below DESTDIR; builds what is not built
	@for program in $(PROGRAMS); do \
		test -x $(RELEASE)/$$program || { $(MAKE) build; break; }; \
	done
	install -d "$(BINDIR)"
	@for program in $(PROGRAMS); do \
		echo "install $(BINDIR)/$$program"; \
		install -m 755 $(RELEASE)/$$program "$(BINDIR)/$$program" || exit 1; \
		! command -v strip >/dev/null || strip "$(BINDIR)/$$program" || exit 1; \
	done

uninstall: ## Remove from PREFIX what `make install` put there; vaults stay
	@for program in $(PROGRAMS); do \
		echo "remove $(BINDIR)/$$program"; \
		rm -f "$(BINDIR)/$$program" || exit 1; \
	done

clean: ## Remove everything that was built
	rm -rf .build
