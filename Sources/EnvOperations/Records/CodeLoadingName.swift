/// Names of variables that change what programs run or read, or whom they talk to and trust, with the
/// reason: a person who can set one of these decides what programs do.
///
/// One table for all commands that take such a name in or hand it out. They warn and go on: each of
/// these has honest uses.
package enum CodeLoadingName {
    /// What such a variable is dangerous for.
    package enum Kind {
        /// It runs code, or changes which code runs.
        case code
        /// It sends requests to another server.
        case traffic
        /// It changes whose certificates are trusted.
        case certificates
        /// It has programs read other settings.
        case settings

        /// For scripts.
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
        /// The rest of a sentence that begins with the name.
        package let text: String
    }

    /// What a variable of this name does to programs; nil for a name without such a meaning.
    package static func effect(of name: String) -> Effect? {
        // Thousands are asked about, and nearly all of them have another beginning or length.
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

    /// The warning about a name, a sentence, and its code for scripts; nil for an ordinary name.
    package static func warning(about name: String) -> (code: String, message: String)? {
        effect(of: name).map { ($0.kind.warningCode, "\(name) \($0.text).") }
    }

    /// Whether a name begins with `prefix`, which is in lower case, whatever the case of its letters.
    private static func begins(_ name: String, _ prefix: String) -> Bool {
        name.utf8.count >= prefix.utf8.count
            && zip(name.utf8, prefix.utf8).allSatisfy { sign, lower in
                sign == lower || (0x41...0x5A).contains(sign) && sign | 0x20 == lower
            }
    }

    /// What the tables have of names with one first letter.
    private struct Place {
        /// Where they are in ``names``.
        var range = 0..<0
        /// The lengths in UTF-8 that those have, as bits; 63 for longer ones.
        var lengths: UInt64 = 0
        /// Whether one of ``prefixes`` begins so.
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

    /// In the order of their bytes, so that those with one first letter are neighbours. An array of
    /// literals is a part of the program, where a dictionary would be put together in each run.
    private static let names: [(name: String, kind: Kind, effect: String)] = [
        ("ALL_PROXY", .traffic, "sends the requests of programs through another server"),
        ("ANSIBLE_CONFIG", .code, "names settings of Ansible, which may run programs"),
        ("AWS_CONFIG_FILE", .code, "names settings of AWS programs, which may run a program"),
        (
            "AWS_SHARED_CREDENTIALS_FILE", .code,
            "names settings of AWS programs, which may run a program"
        ),
        ("BASH_ENV", .code, "names a script that bash runs before any other"),
        ("BROWSER", .code, "names a program that others start"),
        ("BUNDLE_GEMFILE", .code, "names a file that bundler runs"),
        ("BUN_OPTIONS", .code, "gives every bun further options"),
        ("CARGO_HOME", .code, "names where cargo takes programs and settings from"),
        ("CC", .code, "names a program that builds run as the C compiler"),
        ("CLASSPATH", .code, "has java load classes from further places"),
        ("CURL_CA_BUNDLE", .certificates, "changes which certificates curl trusts"),
        ("CXX", .code, "names a program that builds run as the C++ compiler"),
        ("DENO_V8_FLAGS", .code, "gives every deno further options"),
        ("DOCKER_HOST", .traffic, "sends the commands of docker to another server"),
        ("DOTNET_STARTUP_HOOKS", .code, "has every .NET program load further code"),
        ("EDITOR", .code, "names a program that others start"),
        ("ENV", .code, "names a script that sh runs at its start"),
        ("ERL_AFLAGS", .code, "gives every Erlang program further options, which may run code"),
        ("ERL_FLAGS", .code, "gives every Erlang program further options, which may run code"),
        ("ERL_ZFLAGS", .code, "gives every Erlang program further options, which may run code"),
        ("EXINIT", .code, "is run by vi at its start"),
        ("GCONV_PATH", .code, "has programs load character set modules from a directory"),
        ("GEM_HOME", .code, "has ruby load gems from another directory"),
        ("GEM_PATH", .code, "has ruby load gems from further directories"),
        ("GLIBC_TUNABLES", .code, "changes the C library of every program"),
        ("GOFLAGS", .code, "gives every go command further options, and may run a program"),
        ("GRADLE_OPTS", .code, "gives gradle's java further options, and may load an agent"),
        ("GTK_MODULES", .code, "has GTK programs load further libraries"),
        ("GTK_PATH", .code, "has GTK programs load further libraries"),
        ("HGRCPATH", .code, "names settings of Mercurial, which may run programs"),
        ("HOME", .settings, "changes where programs find settings and files of the user"),
        ("HTTPS_PROXY", .traffic, "sends the HTTPS requests of programs through another server"),
        ("HTTP_PROXY", .traffic, "sends the HTTP requests of programs through another server"),
        ("IFS", .code, "changes how shells split words"),
        ("JAVA_OPTIONS", .code, "gives many java programs further options"),
        ("JAVA_TOOL_OPTIONS", .code, "gives every java further options, and may load an agent"),
        ("JDK_JAVA_OPTIONS", .code, "gives every java further options, and may load an agent"),
        ("JULIA_DEPOT_PATH", .code, "has julia load packages from further directories"),
        ("JULIA_LOAD_PATH", .code, "has julia load packages from further directories"),
        (
            "KUBECONFIG", .code,
            "names settings of kubectl, which may run a program and name another cluster"
        ),
        ("LESSCLOSE", .code, "is run by less"),
        ("LESSOPEN", .code, "is run by less for every file"),
        ("LOCPATH", .code, "has programs load locales from a directory"),
        ("LUA_CPATH", .code, "has lua load libraries from further places"),
        ("LUA_INIT", .code, "is run by lua at its start"),
        ("LUA_PATH", .code, "has lua load modules from further places"),
        ("MAKEFILES", .code, "names files that make reads before any other"),
        ("MAKEFLAGS", .code, "gives every make further options"),
        ("MANPAGER", .code, "names a program that man starts"),
        ("MAVEN_OPTS", .code, "gives maven's java further options"),
        ("NLSPATH", .code, "has programs load message files from a directory"),
        ("NODE_EXTRA_CA_CERTS", .certificates, "has every node trust further certificates"),
        ("NODE_OPTIONS", .code, "gives every node further options, and may load a module"),
        ("NODE_PATH", .code, "has node look for modules in further directories"),
        ("NODE_REPL_EXTERNAL_MODULE", .code, "names a module that node loads at its prompt"),
        (
            "NODE_TLS_REJECT_UNAUTHORIZED", .certificates,
            "may switch the check of certificates off in node"
        ),
        ("OPENSSL_CONF", .code, "names settings of OpenSSL, which may load a library"),
        ("OPENSSL_ENGINES", .code, "has OpenSSL load engines from a directory"),
        ("OPENSSL_MODULES", .code, "has OpenSSL load providers from a directory"),
        ("PAGER", .code, "names a program that others start"),
        ("PATH", .code, "decides which programs are found"),
        ("PERL5DB", .code, "is run by perl's debugger"),
        ("PERL5LIB", .code, "has perl load modules from further directories"),
        ("PERL5OPT", .code, "gives every perl further options, and may load a module"),
        ("PERLLIB", .code, "has perl load modules from further directories"),
        ("PHPRC", .code, "names where php takes its settings from"),
        ("PHP_INI_SCAN_DIR", .code, "has php read further settings, which may load extensions"),
        ("PROMPT_COMMAND", .code, "is run by bash before each prompt"),
        ("PS4", .code, "may run commands in a shell that traces"),
        ("PSQLRC", .code, "names a script that psql runs at its start"),
        ("PYTEST_ADDOPTS", .code, "gives every pytest further options, and may load a plugin"),
        ("PYTEST_PLUGINS", .code, "has every pytest load further modules"),
        ("PYTHONBREAKPOINT", .code, "names what python calls at a breakpoint"),
        ("PYTHONHOME", .code, "names where python takes its library from"),
        ("PYTHONINSPECT", .code, "has python stay at a prompt"),
        ("PYTHONPATH", .code, "has python load modules from further directories"),
        ("PYTHONSTARTUP", .code, "names a script that python runs at its prompt"),
        ("PYTHONUSERBASE", .code, "has python load modules from another directory of the user"),
        ("PYTHONWARNINGS", .code, "may have python load a module"),
        ("QT_PLUGIN_PATH", .code, "has Qt programs load plugins from further directories"),
        ("REQUESTS_CA_BUNDLE", .certificates, "changes which certificates python programs trust"),
        ("RIPGREP_CONFIG_PATH", .code, "names settings of ripgrep, which may run a program"),
        ("RUBYLIB", .code, "has ruby load files from further directories"),
        ("RUBYOPT", .code, "gives every ruby further options, and may load a file"),
        ("RUSTC", .code, "names a program that cargo runs as the compiler"),
        (
            "RUSTC_WORKSPACE_WRAPPER", .code,
            "names a program that cargo runs in place of the compiler"
        ),
        ("RUSTC_WRAPPER", .code, "names a program that cargo runs in place of the compiler"),
        ("RUSTFLAGS", .code, "gives the rust compiler further options"),
        ("R_PROFILE", .code, "names a script that R runs at its start"),
        ("R_PROFILE_USER", .code, "names a script that R runs at its start"),
        ("SBT_OPTS", .code, "gives sbt's java further options, and may load an agent"),
        ("SHELL", .code, "names the program that others start as a shell"),
        ("SHELLOPTS", .code, "switches options of every bash on"),
        ("SSH_ASKPASS", .code, "names a program that ssh and git start"),
        ("SSL_CERT_DIR", .certificates, "changes which certificates programs trust"),
        ("SSL_CERT_FILE", .certificates, "changes which certificates programs trust"),
        ("SUDO_ASKPASS", .code, "names a program that sudo starts"),
        ("TF_CLI_CONFIG_FILE", .code, "names settings of Terraform, which may run programs"),
        ("VIMINIT", .code, "is run by vim at its start"),
        ("VISUAL", .code, "names a program that others start"),
        ("XDG_CONFIG_HOME", .settings, "changes where programs find settings of the user"),
        ("YARN_RC_FILENAME", .code, "names settings of yarn, which may run programs"),
        ("YARN_YARN_PATH", .code, "names a script that yarn runs in place of itself"),
        ("ZDOTDIR", .code, "names where zsh takes its start files from"),
        ("_JAVA_OPTIONS", .code, "gives every java further options, and may load an agent"),
        ("all_proxy", .traffic, "sends the requests of programs through another server"),
        ("http_proxy", .traffic, "sends the HTTP requests of programs through another server"),
        ("https_proxy", .traffic, "sends the HTTPS requests of programs through another server"),
    ]

    /// The first that fits counts.
    private static let prefixes: [(prefix: String, anyCase: Bool, kind: Kind, effect: String)] = [
        ("LD_", false, .code, "changes which libraries every program loads"),
        ("DYLD_", false, .code, "changes which libraries programs load on other systems"),
        ("BASH_FUNC_", false, .code, "defines a function in every bash"),
        ("CORECLR_", false, .code, "may have every .NET program load a profiler"),
        ("GIT_SSL_", false, .certificates, "changes which certificates git trusts"),
        ("GIT_", false, .code, "may change what git runs or reads"),
        ("npm_config_", true, .code, "changes the settings of npm, which may run programs"),
    ]
}
