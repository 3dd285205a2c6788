internal import CommandLineKit
internal import JSON
internal import Sealing

/// A setting: its name, its valid values and its default.
enum Setting: String, CaseIterable {
    case revealFromCache = "reveal-from-cache"
    case cacheFor = "cache-for"
    case cacheIndex = "cache-index"
    case clipboardSeconds = "clipboard-seconds"
    case defaultTarget = "default-target"
    case groupPublish = "group-publish"
    case historyKeep = "history-keep"
    case kdf = "kdf"

    enum Value: Equatable, Decodable {
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

        /// The form that `config` reads and prints.
        var text: String {
            switch self {
            case .flag(let flag): flag ? "true" : "false"
            case .number(let number): "\(number)"
            case .text(let text): text
            }
        }

        /// The form in the file and in JSON.
        var json: JSONValue {
            switch self {
            case .flag(let flag): .bool(flag)
            case .number(let number): .integer(Int64(number))
            case .text(let text): .string(text)
            }
        }
    }

    /// The default value.
    var standard: Value {
        switch self {
        case .revealFromCache: .flag(false)
        case .cacheFor: .text("all")
        case .cacheIndex: .flag(false)
        case .clipboardSeconds: .number(45)
        case .defaultTarget: .text("development")
        case .groupPublish: .text("manual")
        case .historyKeep: .number(10)
        case .kdf: .text("moderate")
        }
    }

    /// A short description without full stop.
    var summary: String {
        switch self {
        case .revealFromCache: "let reveal use an unlocked vault without asking"
        case .cacheFor: "commands that may use an unlocked vault: all, none, list"
        case .cacheIndex: "keep the index key for 10 minutes after zg-env list"
        case .clipboardSeconds: "seconds until a copied value leaves the clipboard"
        case .defaultTarget: "target that run, export and diff use without -t"
        case .groupPublish: "when changes are sent to a group: manual (by sync), auto"
        case .historyKeep: "versions to keep of a variable, besides the last 30 days"
        case .kdf: "key-derivation cost for the passphrase of a new vault"
        }
    }

    /// Returns the setting of that name. The error does not repeat an unknown name, which may be a
    /// misplaced secret.
    ///
    /// - Throws: ``ExitCode/usage`` with a suggestion.
    static func named(_ name: String, in place: String = "") throws -> Setting {
        if let setting = Setting(rawValue: name) { return setting }
        let names = allCases.map(\.rawValue) + ["schema-check", "schema-env.NAME", "default-type"]
        throw CommandError(
            .usage, "\(place)No such setting.",
            hint: Suggestion.nearest(to: name, among: names).map { "Did you mean \($0)?" }
                ?? "Settings: \(names.joined(separator: ", ")).")
    }

    /// Parses a value of the command line.
    ///
    /// - Throws: ``ExitCode/usage`` with the valid values.
    func value(of text: String, in program: ProgramSpec) throws -> Value {
        switch self {
        case .revealFromCache, .cacheIndex:
            guard ["true", "false"].contains(text) else { throw invalid("true or false") }
            return .flag(text == "true")
        case .clipboardSeconds: return .number(try number(text, 1...86_400))
        case .historyKeep: return .number(try number(text, 1...10_000))
        case .defaultTarget:
            try TargetName.check(text)
            return .text(text)
        case .groupPublish:
            guard ["manual", "auto"].contains(text) else { throw invalid("manual or auto") }
            return .text(text)
        case .kdf:
            _ = try PassphraseCost(text: text)
            return .text(text)
        case .cacheFor:
            try checkCommands(text, program)
            return .text(text)
        }
    }

    private func number(_ text: String, _ range: ClosedRange<Int>) throws -> Int {
        let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isPlain, let number = Int(text), range.contains(number) else {
            throw invalid("a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Returns the flag that decides for this command alone whether it may use an unlocked vault.
    static func own(of command: String) -> Setting? {
        command == "reveal" ? .revealFromCache : nil
    }

    private func checkCommands(_ text: String, _ program: ProgramSpec) throws {
        if text == "all" || text == "none" { return }
        let known = program.commands.filter { !$0.isHidden }.map(\.name)
        for name in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
            if let own = Setting.own(of: name) {
                throw CommandError(
                    .usage, "\(rawValue) cannot contain \(name).",
                    hint: "Use the separate setting: zg-env config set \(own.rawValue) true")
            }
            guard known.contains(name) else {
                throw CommandError(
                    .usage, "\(rawValue) must be all, none, or a comma-separated list of commands.",
                    hint: Suggestion.nearest(to: name, among: known).map { "Did you mean \($0)?" }
                        ?? "The list contains a word that is not a command. See: zg-env help")
            }
        }
    }

    /// Returns the error for an invalid value.
    func invalid(_ allowed: String) -> CommandError {
        CommandError(.usage, "\(rawValue) must be \(allowed).")
    }
}
