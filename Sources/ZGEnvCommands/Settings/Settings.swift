internal import CommandLineKit
internal import Glibc
internal import JSON
internal import Vault

/// The user's settings: `config.json`, one object with the settings that were changed, without secrets.
struct Settings {
    /// The file; nil without a home directory.
    let path: String?
    /// The settings that differ from the default or were set to it.
    private(set) var values: [Setting: Setting.Value] = [:]

    /// Reads the file; a missing one leaves the defaults.
    ///
    /// - Throws: ``ExitCode/usage`` for an invalid file, or one that others can write to: it decides when
    ///   a passphrase is needed.
    init(_ context: Context) throws {
        path = Directories(context).configuration
        guard let path, let bytes = try Self.bytes(path) else { return }
        let found: [String: Setting.Value]
        do {
            found = try JSONDecoder().decode([String: Setting.Value].self, from: bytes)
        } catch {
            // The decoder's own message would not help.
            throw CommandError(
                .usage, "\(path) is not a valid configuration file.",
                hint: "Fix it, or delete it and set the settings again with: zg-env config set")
        }
        for (name, value) in found.sorted(by: { $0.key < $1.key }) {
            let setting = try Setting.named(name, in: "\(path): ")
            values[setting] = try Self.checked(value, setting, path, context.program)
        }
    }

    /// The value of a setting or its default.
    subscript(_ setting: Setting) -> Setting.Value { values[setting] ?? setting.standard }

    func isOn(_ setting: Setting) -> Bool { self[setting] == .flag(true) }

    /// Returns the number of a setting; nil if it is not a number.
    func number(_ setting: Setting) -> Int? {
        if case .number(let number) = self[setting] { number } else { nil }
    }

    /// Whether a command may use an unlocked vault.
    ///
    /// - Parameter tier: A command's own setting is only about values; names are open to it as to others.
    func allowsCache(for command: String, opening tier: KeySlot.Tier = .values) -> Bool {
        if tier == .values, let own = Setting.own(of: command) { return isOn(own) }
        switch self[.cacheFor].text {
        case "all": return true
        case "none": return false
        case let list: return list.split(separator: ",").contains { $0 == command }
        }
    }

    /// Sets a setting, or returns it to its default (nil).
    mutating func set(_ setting: Setting, to value: Setting.Value?) {
        values[setting] = value
    }

    /// Writes the file atomically, readable for the user alone.
    func write(in files: any FileStore) throws {
        guard let path else {
            throw CommandError(
                .failed, "Cannot locate the settings: there is no home directory.",
                hint: "Set HOME.")
        }
        let members = Setting.allCases.compactMap { setting in
            values[setting].map { JSONValue.Member(setting.rawValue, $0.json) }
        }
        let text = JSONValue.object(members).encoded + [0x0A]
        do {
            try files.prepareDirectory(of: path)
        } catch {
            throw CommandError(.failed, CommandError.sentence(error.reason))
        }
        try PrivateFile.write(text, to: path, replaces: true)
    }

    // MARK: Reading

    /// Checks kind and bounds of a value from the file.
    private static func checked(
        _ found: Setting.Value, _ setting: Setting, _ path: String, _ program: ProgramSpec
    ) throws -> Setting.Value {
        let isOfKind =
            switch (found, setting.standard) {
            case (.flag, .flag), (.number, .number), (.text, .text): true
            default: false
            }
        do {
            guard isOfKind else { throw setting.invalid("a value of a different type") }
            return try setting.value(of: found.text, in: program)
        } catch var error as CommandError {
            error.message = "\(path): \(error.message)"
            error.hint = "Fix the file, or set the setting again with: zg-env config set"
            throw error
        }
    }

    /// Returns the bytes of the file; nil if it does not exist.
    private static func bytes(_ path: String) throws -> [UInt8]? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw CommandError(.usage, "\(path) cannot be checked.")
        }
        guard status.st_mode & S_IFMT == S_IFREG, let bytes = SmallFile.bytes(path) else {
            throw CommandError(.usage, "\(path) cannot be read as a configuration file.")
        }
        guard status.st_uid == geteuid() || status.st_uid == 0, status.st_mode & 0o022 == 0 else {
            throw CommandError(
                .usage,
                "Other users can write to \(path), which decides when a passphrase is needed.",
                hint: "Run: chmod go-w \(word: path)")
        }
        return bytes
    }
}
