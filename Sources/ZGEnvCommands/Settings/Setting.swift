internal import CommandLineKit
internal import JSON
internal import Sealing

/// One setting of the user's: its name, what it may be, and what it is unless somebody says so.
enum Setting: String, CaseIterable {
    case revealFromCache = "reveal-from-cache"
    case cacheFor = "cache-for"
    case cacheIndex = "cache-index"
    case clipboardSeconds = "clipboard-seconds"
    case defaultTarget = "default-target"
    case historyKeep = "history-keep"
    case kdf = "kdf"

    /// What a setting holds.
    enum Value: Equatable {
        case flag(Bool)
        case number(Int)
        case text(String)

        /// As `config` takes and prints it.
        var text: String {
            switch self {
            case .flag(let flag): flag ? "true" : "false"
            case .number(let number): "\(number)"
            case .text(let text): text
            }
        }

        /// As the file and `--json` hold it.
        var json: JSONValue {
            switch self {
            case .flag(let flag): .bool(flag)
            case .number(let number): .integer(Int64(number))
            case .text(let text): .string(text)
            }
        }
    }

    /// The value where nobody set one.
    var standard: Value {
        switch self {
        case .revealFromCache: .flag(false)
        case .cacheFor: .text("all")
        case .cacheIndex: .flag(false)
        case .clipboardSeconds: .number(45)
        case .defaultTarget: .text("development")
        case .historyKeep: .number(10)
        case .kdf: .text("moderate")
        }
    }

    /// What it does, without full stop.
    var summary: String {
        switch self {
        case .revealFromCache: "let reveal use an unlocked vault instead of asking"
        case .cacheFor: "commands that may use an unlocked vault: all, none, or a list"
        case .cacheIndex: "let list keep what opens the names for 10 minutes"
        case .clipboardSeconds: "seconds until a copied value leaves the clipboard"
        case .defaultTarget: "the target of run, export and diff where none is named"
        case .historyKeep: "versions of a variable to keep, beside those younger than 30 days"
        case .kdf: "cost of one guess at the passphrase of a new vault"
        }
    }

    /// The setting of that name. A text that is none is not repeated: it may be a value gone astray.
    ///
    /// - Throws: ``ExitCode/usage`` with the name that was probably meant.
    static func named(_ name: String, in place: String = "") throws -> Setting {
        if let setting = Setting(rawValue: name) { return setting }
        let names = allCases.map(\.rawValue)
        throw CommandError(
            .usage, "\(place)There is no such setting.",
            hint: Suggestion.nearest(to: name, among: names).map { "Did you mean \($0)?" }
                ?? "There are: \(names.joined(separator: ", ")).")
    }

    /// Reads a value as it is typed.
    ///
    /// - Throws: ``ExitCode/usage`` with what it may be.
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

    /// The flag that decides for one command alone whether it may use an unlocked vault; nil for the others.
    static func own(of command: String) -> Setting? {
        command == "reveal" ? .revealFromCache : nil
    }

    private func checkCommands(_ text: String, _ program: ProgramSpec) throws {
        if text == "all" || text == "none" { return }
        let known = program.commands.filter { !$0.isHidden }.map(\.name)
        for name in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
            if let own = Setting.own(of: name) {
                throw CommandError(
                    .usage, "\(name) is not for \(rawValue).",
                    hint: "It has a setting of its own: \(own.rawValue).")
            }
            guard known.contains(name) else {
                throw CommandError(
                    .usage, "\(rawValue) is all, none, or commands parted by commas.",
                    hint: Suggestion.nearest(to: name, among: known).map { "Did you mean \($0)?" }
                        ?? "One of these is no command: see zg-env help.")
            }
        }
    }

    /// The error for a value that this setting does not take.
    func invalid(_ allowed: String) -> CommandError {
        CommandError(.usage, "\(rawValue) is \(allowed).", hint: "Nothing was changed.")
    }
}
