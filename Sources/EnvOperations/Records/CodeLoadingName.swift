/// Names of variables that change which code programs load, with the reason: who can set one of
/// these decides what runs.
///
/// One table for all commands that take such a name in or hand it out. They warn and go on: each of
/// these has honest uses.
package enum CodeLoadingName {
    /// What a variable of this name does to programs, as the rest of a sentence that begins with the
    /// name; nil for a name without such a meaning.
    package static func effect(of name: String) -> String? {
        // Thousands are asked about, and nearly all of them have another beginning or length.
        guard let letter = name.utf8.first, letter < 128 else { return nil }
        if lengths[Int(letter)] & (1 << UInt64(min(name.utf8.count, 63))) != 0,
            let effect = names[name]
        {
            return effect
        }
        guard prefixLetters[Int(letter)] else { return nil }
        return prefixes.first { name.hasPrefix($0.prefix) }?.effect
    }

    /// The warning about a name, a sentence; nil for an ordinary one.
    package static func warning(about name: String) -> String? {
        effect(of: name).map { "\(name) \($0)." }
    }

    /// For scripts.
    package static let warningCode = "loads-code"

    /// For each first letter the lengths in UTF-8 that ``names`` has, as bits; 63 for longer ones.
    private static let lengths: [UInt64] = {
        var lengths = [UInt64](repeating: 0, count: 128)
        for name in names.keys {
            guard let letter = name.utf8.first, letter < 128 else { continue }
            lengths[Int(letter)] |= 1 << UInt64(min(name.utf8.count, 63))
        }
        return lengths
    }()
    /// For each letter whether one of ``prefixes`` begins with it.
    private static let prefixLetters: [Bool] = (0..<128).map { letter in
        prefixes.contains { $0.prefix.utf8.first == letter }
    }

    private static let names: [String: String] = [
        // The dynamic linker and the C library.
        "GCONV_PATH": "has programs load character set modules from a directory",
        "GLIBC_TUNABLES": "changes the C library of every program",
        "LOCPATH": "has programs load locales from a directory",
        "NLSPATH": "has programs load message files from a directory",
        // Shells.
        "BASH_ENV": "names a script that bash runs before any other",
        "ENV": "names a script that sh runs at its start",
        "IFS": "changes how shells split words",
        "PATH": "decides which programs are found",
        "PROMPT_COMMAND": "is run by bash before each prompt",
        "PS4": "may run commands in a shell that traces",
        "SHELL": "names the program that others start as a shell",
        "SHELLOPTS": "switches options of every bash on",
        "ZDOTDIR": "names where zsh takes its start files from",
        // JavaScript.
        "BUN_OPTIONS": "gives every bun further options",
        "DENO_V8_FLAGS": "gives every deno further options",
        "NODE_EXTRA_CA_CERTS": "has every node trust further certificates",
        "NODE_OPTIONS": "gives every node further options, and may load a module",
        "NODE_PATH": "has node look for modules in further directories",
        "NODE_REPL_EXTERNAL_MODULE": "names a module that node loads at its prompt",
        "NODE_TLS_REJECT_UNAUTHORIZED": "may switch the check of certificates off in node",
        // Python.
        "PYTHONBREAKPOINT": "names what python calls at a breakpoint",
        "PYTHONHOME": "names where python takes its library from",
        "PYTHONINSPECT": "has python stay at a prompt",
        "PYTHONPATH": "has python load modules from further directories",
        "PYTHONSTARTUP": "names a script that python runs at its prompt",
        "PYTHONUSERBASE": "has python load modules from another directory of the user",
        // Perl, Ruby, PHP, Lua, R.
        "GEM_HOME": "has ruby load gems from another directory",
        "GEM_PATH": "has ruby load gems from further directories",
        "LUA_CPATH": "has lua load libraries from further places",
        "LUA_INIT": "is run by lua at its start",
        "LUA_PATH": "has lua load modules from further places",
        "PERL5DB": "is run by perl's debugger",
        "PERL5LIB": "has perl load modules from further directories",
        "PERL5OPT": "gives every perl further options, and may load a module",
        "PERLLIB": "has perl load modules from further directories",
        "PHPRC": "names where php takes its settings from",
        "PHP_INI_SCAN_DIR": "has php read further settings, which may load extensions",
        "RUBYLIB": "has ruby load files from further directories",
        "RUBYOPT": "gives every ruby further options, and may load a file",
        "R_PROFILE": "names a script that R runs at its start",
        "R_PROFILE_USER": "names a script that R runs at its start",
        // The Java machine and .NET.
        "CLASSPATH": "has java load classes from further places",
        "DOTNET_STARTUP_HOOKS": "has every .NET program load further code",
        "JAVA_OPTIONS": "gives many java programs further options",
        "JAVA_TOOL_OPTIONS": "gives every java further options, and may load an agent",
        "JDK_JAVA_OPTIONS": "gives every java further options, and may load an agent",
        "MAVEN_OPTS": "gives maven's java further options",
        "_JAVA_OPTIONS": "gives every java further options, and may load an agent",
        // Compilers and build tools.
        "CARGO_HOME": "names where cargo takes programs and settings from",
        "GOFLAGS": "gives every go command further options, and may run a program",
        "MAKEFILES": "names files that make reads before any other",
        "MAKEFLAGS": "gives every make further options",
        "RUSTC_WRAPPER": "names a program that cargo runs in place of the compiler",
        "RUSTFLAGS": "gives the rust compiler further options",
        // What other programs start.
        "BROWSER": "names a program that others start",
        "EDITOR": "names a program that others start",
        "LESSCLOSE": "is run by less",
        "LESSOPEN": "is run by less for every file",
        "MANPAGER": "names a program that man starts",
        "OPENSSL_CONF": "names settings of OpenSSL, which may load a library",
        "OPENSSL_ENGINES": "has OpenSSL load engines from a directory",
        "OPENSSL_MODULES": "has OpenSSL load providers from a directory",
        "PAGER": "names a program that others start",
        "SSH_ASKPASS": "names a program that ssh and git start",
        "SUDO_ASKPASS": "names a program that sudo starts",
        "VISUAL": "names a program that others start",
    ]

    private static let prefixes: [(prefix: String, effect: String)] = [
        ("LD_", "changes which libraries every program loads"),
        ("DYLD_", "changes which libraries programs load on other systems"),
        ("BASH_FUNC_", "defines a function in every bash"),
        ("CORECLR_", "may have every .NET program load a profiler"),
        ("GIT_", "may change what git runs or reads"),
        ("npm_config_", "changes the settings of npm, which may run programs"),
        ("NPM_CONFIG_", "changes the settings of npm, which may run programs"),
    ]
}
