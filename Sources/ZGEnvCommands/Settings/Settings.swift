internal import CommandLineKit
internal import DotEnv
internal import Glibc
internal import JSON
internal import Sealing
internal import Vault

/// The user's settings: `config.json`, one object with the settings that somebody set. No secret is in it.
struct Settings {
    /// The file; nil where there is no home directory to keep it in.
    let path: String?
    /// What was set.
    private(set) var values: [Setting: Setting.Value] = [:]

    /// Most bytes of the file.
    private static let limit = 64 << 10

    /// Reads the file; without one everything is as it is by itself.
    ///
    /// - Throws: ``ExitCode/usage`` for a file that is not exactly what ``write(in:)`` would write, or
    ///   that others can write to: it decides when a passphrase is asked for.
    init(_ context: Context) throws {
        path = Directories(context).configuration
        guard let path, let bytes = try Self.bytes(path) else { return }
        let found: [String: Found]
        do {
            found = try JSONDecoder().decode([String: Found].self, from: bytes)
        } catch {
            // What the decoder says helps nobody.
            throw CommandError(
                .usage, "\(path) is not an object of settings.",
                hint: "Mend it, or remove it and set them anew with: zg-env config set")
        }
        for (name, value) in found.sorted(by: { $0.key < $1.key }) {
            let setting = try Setting.named(name, in: "\(path): ")
            values[setting] = try Self.checked(value, setting, path, context.program)
        }
    }

    /// The value of a setting.
    subscript(_ setting: Setting) -> Setting.Value { values[setting] ?? setting.standard }

    /// Whether a flag is set.
    func isOn(_ setting: Setting) -> Bool { self[setting] == .flag(true) }

    /// The number of a setting that is one.
    func number(_ setting: Setting) -> Int? {
        if case .number(let number) = self[setting] { number } else { nil }
    }

    /// Tells whether a command may use an unlocked vault.
    func allowsCache(for command: String) -> Bool {
        if let own = Setting.own(of: command) { return isOn(own) }
        switch self[.cacheFor].text {
        case "all": return true
        case "none": return false
        case let list: return list.split(separator: ",").contains { $0 == command }
        }
    }

    /// Sets a value.
    mutating func set(_ setting: Setting, to value: Setting.Value) {
        values[setting] = value
    }

    /// Puts the file in place, whole or not at all, for the user alone.
    func write(in files: any FileStore) throws {
        guard let path else {
            throw CommandError(
                .failed, "There is no home directory to keep settings in.", hint: "Set HOME.")
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
        try text.withBytes { try PrivateFile.write($0, to: path, replaces: true) }
    }

    // MARK: Reading

    /// A value as it stands in the file.
    private enum Found: Decodable {
        case flag(Bool)
        case number(Int)
        case text(String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let flag = try? container.decode(Bool.self) {
                self = .flag(flag)
            } else if let number = try? container.decode(Int.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }
    }

    /// A value of the file, which must be of the kind and within the bounds of its setting.
    private static func checked(
        _ found: Found, _ setting: Setting, _ path: String,
        _ program: ProgramSpec
    ) throws -> Setting.Value {
        let (text, isOfKind) =
            switch (found, setting.standard) {
            case (.flag(let flag), .flag): (Setting.Value.flag(flag).text, true)
            case (.number(let number), .number): ("\(number)", true)
            case (.text(let text), .text): (text, true)
            default: ("", false)
            }
        do {
            guard isOfKind else { throw setting.invalid("a value of another kind") }
            return try setting.value(of: text, in: program)
        } catch var error as CommandError {
            error.message = "\(path): \(error.message)"
            error.hint = "Mend the file, or set it anew with: zg-env config set"
            throw error
        }
    }

    /// The bytes of the file; nil where there is none.
    private static func bytes(_ path: String) throws -> [UInt8]? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw CommandError(.usage, "\(path) cannot be looked at.")
        }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit,
            let bytes = SmallFile.bytes(path)
        else { throw CommandError(.usage, "\(path) cannot be read as a file of settings.") }
        guard status.st_uid == geteuid() || status.st_uid == 0, status.st_mode & 0o022 == 0 else {
            throw CommandError(
                .usage, "Others can write to \(path), which says when a passphrase is asked for.",
                hint: "Run: chmod go-w \(word: path)")
        }
        return bytes
    }
}
