/// Names of variables that change what programs run or read, or which servers they contact and
/// trust. A person who can set one of these controls what programs do.
///
/// Shared by all commands that store or output such a name. They only warn, because each name has
/// legitimate uses.
package enum CodeLoadingName {
    /// What such a variable is dangerous for.
    package enum Kind {
        /// Runs code, or changes which code runs.
        case code
        /// Sends requests to another server.
        case traffic
        /// Changes whose certificates are trusted.
        case certificates
        /// Makes programs read different settings.
        case settings

        /// The code for scripts.
        package var warningCode: String {
            switch self {
            case .code: "loads-code"
            case .traffic: "redirects-traffic"
            case .certificates: "changes-certificates"
            case .settings: "changes-settings"
            }
        }
    }

    /// What a variable does to programs.
    package struct Effect {
        package let kind: Kind
        /// The rest of a sentence that starts with the name.
        package let text: String
    }

    /// Returns what a variable of this name does to programs, or nil for an ordinary name.
    package static func effect(of name: String) -> Effect? {
        // Checked for thousands of names; nearly all differ in first letter or length.
        guard let letter = name.utf8.first, letter < 128 else { return nil }
        let place = places[Int(letter)]
        if place.lengths & 1 << UInt64(min(name.utf8.count, 63)) != 0,
            let found = names[place.range].first(where: { $0.name == name })
        {
            return Effect(kind: found.kind, text: found.effect)
        }
        guard place.beginsPrefix else { return nil }
        let prefix = prefixes.first {
            $0.anyCase ? begins(name, $0.prefix) : name.hasPrefix($0.prefix)
        }
        return prefix.map { Effect(kind: $0.kind, text: $0.effect) }
    }

    /// Whether a variable of this name may change what programs do, also by the customs that names
    /// follow. No list can be complete, so this includes many that do nothing: for what colleagues
    /// store, not for warnings.
    package static func mayAffectPrograms(_ name: String) -> Bool {
        if effect(of: name) != nil { return true }
        // A web framework shows these to browsers; no program reads them.
        if ["NEXT_PUBLIC_", "VITE_", "REACT_APP_"].contains(where: name.hasPrefix) { return false }
        let name = name.uppercased()
        return customaryPrefixes.contains(where: name.hasPrefix)
            || customaryEndings.contains(where: name.hasSuffix)
            || name.contains("_ENDPOINT_URL")
    }

    private static let customaryPrefixes = [
        "CARGO_", "PIP_", "UV_", "POETRY_", "YARN_", "PNPM_CONFIG_", "COREPACK_", "BUN_CONFIG_",
        "RUSTUP_", "CMAKE_", "TF_", "ANSIBLE_", "DOTNET_", "XDG_",
    ]
    private static let customaryEndings = [
        "_OPTIONS", "_OPTS", "_FLAGS", "_ARGS", "_PAGER", "_EDITOR", "_RSH", "_SSH", "_WRAPPER",
        "_RUNNER", "_LAUNCHER", "_PATH", "_HOME", "_CONFIG", "_PLUGIN", "_PLUGINS", "_REGISTRY",
        "_INDEX_URL", "_PROXY", "_CA_BUNDLE",
    ]

    /// Returns the warning about a name, as a sentence, and its code for scripts, or nil for an
    /// ordinary name.
    package static func warning(about name: String) -> (code: String, message: String)? {
        effect(of: name).map { ($0.kind.warningCode, "\(name) \($0.text).") }
    }

    /// Returns whether a name starts with `prefix`, which is in lower case, ignoring the case of
    /// its letters.
    private static func begins(_ name: String, _ prefix: String) -> Bool {
        name.utf8.count >= prefix.utf8.count
            && zip(name.utf8, prefix.utf8).allSatisfy { sign, lower in
                sign == lower || (0x41...0x5A).contains(sign) && sign | 0x20 == lower
            }
    }

    /// What the tables contain for one first letter.
    private struct Place {
        /// Their range in ``names``.
        var range = 0..<0
        /// Their lengths in UTF-8 as a bit set; bit 63 for longer ones.
        var lengths: UInt64 = 0
        /// Whether one of ``prefixes`` starts with the letter.
        var beginsPrefix = false
    }

    private static let places: [Place] = {
        var places = [Place](repeating: Place(), count: 128)
        for (number, entry) in names.enumerated() {
            guard let letter = entry.name.utf8.first, letter < 128 else { continue }
            let start = places[Int(letter)].lengths == 0 ? number : nil
            places[Int(letter)].range =
                (start ?? places[Int(letter)].range.lowerBound)..<number + 1
            places[Int(letter)].lengths |= 1 << UInt64(min(entry.name.utf8.count, 63))
        }
        for entry in prefixes {
            guard let letter = entry.prefix.utf8.first, letter < 128 else { continue }
            places[Int(letter)].beginsPrefix = true
            let isSmall = (0x61...0x7A).contains(letter)
            if entry.anyCase, isSmall { places[Int(letter) - 0x20].beginsPrefix = true }
        }
        return places
    }()

    /// Sorted by bytes, so that names with the same first letter are adjacent. An array of literals
    /// is static data; a dictionary would be built at every start.
    private static let names: [(name: String, kind: Kind, effect: String)] = [
        ("ALL_PROXY", .traffic, "sends programs' requests through another server"),
        (
            "ANSIBLE_CONFIG", .code,
            "points Ansible at a configuration file, which may make it run programs"
        ),
        (
            "AWS_CONFIG_FILE", .code,
            "points AWS tools at a configuration file, which may make them run a program"
        ),
        (
            "AWS_SHARED_CREDENTIALS_FILE", .code,
            "points AWS tools at a configuration file, which may make them run a program"
        ),
        ("BASH_ENV", .code, "selects a file that bash runs before every other script"),
        ("BROWSER", .code, "specifies a program that other programs run"),
        ("BUNDLE_GEMFILE", .code, "selects a file that bundler runs"),
        ("BUN_OPTIONS", .code, "passes options to bun"),
        ("CARGO_HOME", .code, "selects where cargo finds programs and configuration files"),
        ("CATALINA_OPTS", .code, "passes options to Tomcat's JVM, and may load an agent"),
        ("CC", .code, "specifies the program to run as the C compiler"),
        ("CHROME_PATH", .code, "specifies the browser that other programs run"),
        ("CLASSPATH", .code, "makes java load classes from additional locations"),
        ("COMPILER_PATH", .code, "sets where gcc looks for the programs that it runs"),
        ("CURL_CA_BUNDLE", .certificates, "changes which certificates curl trusts"),
        ("CXX", .code, "specifies the program to run as the C++ compiler"),
        ("DENO_V8_FLAGS", .code, "passes options to deno"),
        ("DJANGO_SETTINGS_MODULE", .code, "selects a module that Django loads"),
        ("DOCKER_CONFIG", .code, "selects docker's configuration, which may run a program"),
        ("DOCKER_HOST", .traffic, "sends docker commands to another server"),
        ("DOTNET_STARTUP_HOOKS", .code, "makes every .NET program load additional code"),
        ("EDITOR", .code, "specifies a program that other programs run"),
        (
            "ELIXIR_ERL_OPTIONS", .code,
            "passes options, which may run code, to every Elixir program"
        ),
        ("ENV", .code, "selects a script that sh runs at startup"),
        ("ERL_AFLAGS", .code, "passes options, which may run code, to every Erlang program"),
        ("ERL_FLAGS", .code, "passes options, which may run code, to every Erlang program"),
        ("ERL_ZFLAGS", .code, "passes options, which may run code, to every Erlang program"),
        ("ESBUILD_BINARY_PATH", .code, "specifies the program to run as esbuild"),
        ("EXINIT", .code, "is run by vi at startup"),
        ("FLASK_APP", .code, "selects a module that Flask loads"),
        ("GCONV_PATH", .code, "makes programs load character set modules from a directory"),
        ("GEM_HOME", .code, "makes ruby load gems from another directory"),
        ("GEM_PATH", .code, "makes ruby load gems from additional directories"),
        ("GLIBC_TUNABLES", .code, "changes how the C library behaves in every program"),
        ("GNUMAKEFLAGS", .code, "passes options to make"),
        ("GOENV", .code, "selects go's configuration file, which may run a program"),
        ("GOFLAGS", .code, "passes options to every go command, and may run a program"),
        ("GOPROXY", .traffic, "selects the server that go loads modules from"),
        ("GOTOOLCHAIN", .code, "selects the toolchain that go runs"),
        ("GRADLE_OPTS", .code, "passes options to Gradle's JVM, and may load an agent"),
        ("GRADLE_USER_HOME", .code, "selects where Gradle finds scripts that it runs"),
        ("GTK_MODULES", .code, "makes GTK programs load additional libraries"),
        ("GTK_PATH", .code, "makes GTK programs load additional libraries"),
        ("GUNICORN_CMD_ARGS", .code, "passes options to gunicorn, and may load a module"),
        ("HGRCPATH", .code, "selects Mercurial's configuration file, which may run programs"),
        ("HOME", .settings, "changes where programs find the user's configuration and files"),
        ("HOSTALIASES", .traffic, "changes which servers host names refer to"),
        ("HTTPS_PROXY", .traffic, "sends programs' HTTPS requests through another server"),
        ("HTTP_PROXY", .traffic, "sends programs' HTTP requests through another server"),
        ("IFS", .code, "changes how shells split words"),
        ("JAVA_OPTIONS", .code, "passes options to many java programs"),
        ("JAVA_OPTS", .code, "passes options to many java programs"),
        ("JAVA_TOOL_OPTIONS", .code, "passes options to java, and may load an agent"),
        ("JDK_JAVA_OPTIONS", .code, "passes options to java, and may load an agent"),
        ("JULIA_DEPOT_PATH", .code, "makes julia load packages from additional directories"),
        ("JULIA_LOAD_PATH", .code, "makes julia load packages from additional directories"),
        (
            "KUBECONFIG", .code,
            "selects kubectl's configuration file, which may run a program and select another cluster"
        ),
        ("LESSCLOSE", .code, "is run by less"),
        ("LESSOPEN", .code, "is run by less for every file"),
        ("LOCPATH", .code, "makes programs load locales from a directory"),
        ("LUA_CPATH", .code, "makes lua load libraries from additional locations"),
        ("LUA_INIT", .code, "is run by lua at startup"),
        ("LUA_INIT_5_4", .code, "is run by lua at startup"),
        ("LUA_PATH", .code, "makes lua load modules from additional locations"),
        ("MAKEFILES", .code, "selects makefiles that GNU make reads before any others"),
        ("MAKEFLAGS", .code, "passes options to make"),
        ("MANPAGER", .code, "specifies a program that man runs"),
        ("MAVEN_ARGS", .code, "passes options to Maven"),
        ("MAVEN_OPTS", .code, "passes options to Maven's JVM"),
        ("NLSPATH", .code, "makes programs load message files from a directory"),
        ("NODE_COMPILE_CACHE", .code, "selects a directory from which node loads compiled code"),
        ("NODE_EXTRA_CA_CERTS", .certificates, "makes node trust additional certificates"),
        ("NODE_OPTIONS", .code, "passes options to node, and may load a module"),
        ("NODE_PATH", .code, "makes node look for modules in additional directories"),
        ("NODE_REPL_EXTERNAL_MODULE", .code, "selects a module that node loads in its REPL"),
        ("NODE_TLS_REJECT_UNAUTHORIZED", .certificates, "may disable certificate checks in node"),
        ("NO_PROXY", .traffic, "selects which requests programs send without a proxy"),
        (
            "OPENSSL_CONF", .code,
            "points OpenSSL at a configuration file, which may make it load a library"
        ),
        ("OPENSSL_ENGINES", .code, "makes OpenSSL load engines from a directory"),
        ("OPENSSL_MODULES", .code, "makes OpenSSL load providers from a directory"),
        ("PAGER", .code, "specifies a program that other programs run"),
        ("PATH", .code, "sets where shells and programs look for executables"),
        ("PERL5DB", .code, "is run by perl's debugger"),
        ("PERL5LIB", .code, "makes perl load modules from additional directories"),
        ("PERL5OPT", .code, "passes options to perl, and may load a module"),
        ("PERLLIB", .code, "makes perl load modules from additional directories"),
        ("PHPRC", .code, "selects where php finds its configuration file"),
        ("PHP_INI_SCAN_DIR", .code, "makes php read configuration files that may load extensions"),
        ("PRISMA_QUERY_ENGINE_BINARY", .code, "specifies a program that Prisma runs"),
        ("PRISMA_QUERY_ENGINE_LIBRARY", .code, "selects a library that Prisma loads"),
        ("PROMPT_COMMAND", .code, "is run by bash before each prompt"),
        ("PS1", .code, "may run commands in an interactive shell"),
        ("PS4", .code, "may run commands in a shell with -x set"),
        ("PSQLRC", .code, "selects a script that psql runs at startup"),
        ("PUPPETEER_EXECUTABLE_PATH", .code, "specifies the browser that Puppeteer runs"),
        ("PYTEST_ADDOPTS", .code, "passes options to pytest, and may load a plugin"),
        ("PYTEST_PLUGINS", .code, "makes pytest load additional modules"),
        ("PYTHONBREAKPOINT", .code, "selects the function that python calls at a breakpoint"),
        ("PYTHONHOME", .code, "selects where python finds its standard library"),
        ("PYTHONINSPECT", .code, "makes python open an interactive prompt after a script"),
        ("PYTHONPATH", .code, "makes python load modules from additional directories"),
        ("PYTHONPYCACHEPREFIX", .code, "selects a directory from which python loads compiled code"),
        ("PYTHONSTARTUP", .code, "selects a script that python runs when it starts interactively"),
        ("PYTHONUSERBASE", .code, "makes python load modules from a different user directory"),
        ("PYTHONWARNINGS", .code, "may make python load a module"),
        ("QT_PLUGIN_PATH", .code, "makes Qt programs load plugins from additional directories"),
        ("REQUESTS_CA_BUNDLE", .certificates, "changes which certificates python programs trust"),
        (
            "RIPGREP_CONFIG_PATH", .code,
            "selects ripgrep's configuration file, which may run a program"
        ),
        ("RUBYLIB", .code, "makes ruby load files from additional directories"),
        ("RUBYOPT", .code, "passes options to ruby, and may load a file"),
        ("RUSTC", .code, "specifies a program that cargo runs as the compiler"),
        (
            "RUSTC_WORKSPACE_WRAPPER", .code,
            "specifies a program that cargo runs instead of the compiler"
        ),
        ("RUSTC_WRAPPER", .code, "specifies a program that cargo runs instead of the compiler"),
        ("RUSTFLAGS", .code, "passes options to the Rust compiler"),
        ("R_PROFILE", .code, "selects a script that R runs at startup"),
        ("R_PROFILE_USER", .code, "selects a script that R runs at startup"),
        ("SBT_OPTS", .code, "passes options to sbt's JVM, and may load an agent"),
        ("SHELL", .code, "specifies the shell that other programs run"),
        ("SHELLOPTS", .code, "turns on options in every bash shell"),
        ("SSH_ASKPASS", .code, "specifies a program that ssh and git run"),
        (
            "SSLKEYLOGFILE", .certificates,
            "makes programs write the keys of their connections to a file"
        ),
        ("SSL_CERT_DIR", .certificates, "changes which certificates programs trust"),
        ("SSL_CERT_FILE", .certificates, "changes which certificates programs trust"),
        ("SUDO_ASKPASS", .code, "specifies a program that sudo runs"),
        ("TAR_OPTIONS", .code, "passes options to tar, and may run a program"),
        (
            "TF_CLI_CONFIG_FILE", .code,
            "selects Terraform's configuration file, which may run programs"
        ),
        ("TS_NODE_COMPILER", .code, "selects a module that ts-node loads"),
        ("TS_NODE_PROJECT", .code, "selects ts-node's configuration file, which may load modules"),
        ("TS_NODE_REQUIRE", .code, "makes ts-node load additional modules"),
        ("VIMINIT", .code, "is run by vim at startup"),
        ("VISUAL", .code, "specifies a program that other programs run"),
        ("XDG_CONFIG_HOME", .settings, "changes where programs find the user's configuration"),
        ("YARN_RC_FILENAME", .code, "selects yarn's configuration file, which may run programs"),
        ("YARN_YARN_PATH", .code, "selects a script that yarn runs instead of itself"),
        ("ZDOTDIR", .code, "selects where zsh finds its startup files"),
        ("_JAVA_OPTIONS", .code, "passes options to java, and may load an agent"),
        ("all_proxy", .traffic, "sends programs' requests through another server"),
        ("http_proxy", .traffic, "sends programs' HTTP requests through another server"),
        ("https_proxy", .traffic, "sends programs' HTTPS requests through another server"),
        ("no_proxy", .traffic, "selects which requests programs send without a proxy"),
        ("npm_execpath", .code, "specifies the package manager that scripts run"),
    ]

    /// The first match counts.
    private static let prefixes: [(prefix: String, anyCase: Bool, kind: Kind, effect: String)] = [
        ("LD_", false, .code, "changes which libraries every program loads"),
        ("DYLD_", false, .code, "changes which libraries programs load on macOS"),
        ("BASH_FUNC_", false, .code, "defines a function in every bash shell"),
        ("CORECLR_", false, .code, "may make every .NET program load a profiler"),
        ("GIT_SSL_", false, .certificates, "changes which certificates git trusts"),
        ("GIT_", false, .code, "may change what git runs or reads"),
        ("npm_config_", true, .code, "changes npm's configuration, which may run programs"),
    ]
}
