/// Where the value of a variable is used.
enum TargetNames {
    static let production = "production"
    static let preview = "preview"
    static let development = "development"
    /// A custom environment.
    static let custom = "qa"
    /// In the order of a listing.
    static let all = [production, preview, development, custom]
    /// Those of a new variable for a command without `-t`.
    static let standard = [production, preview, development]
}

/// The types of a variable, the weakest first. Vercel shows the values of all but the last.
enum ValueType: Int, Comparable, CaseIterable, Sendable {
    case plain
    case encrypted
    case sensitive

    init?(name: String) {
        guard let type = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = type
    }

    var name: String { "\(self)" }
    /// Whether Vercel shows a value of this type.
    var isReadable: Bool { self < .sensitive }

    static func < (one: ValueType, other: ValueType) -> Bool { one.rawValue < other.rawValue }
}

/// A command of the sequence test.
///
/// Only a seed determines it: a value that repeats the vault's, or a version, is found when the
/// command runs, so that the rest of a sequence means the same without an earlier command.
struct TargetCommand: Sendable, Equatable {
    /// What a command gives a variable.
    enum Value: Sendable, Equatable {
        /// A value that no other command has.
        case new(String)
        /// The value that the variable has in that target; without one there, the other.
        case same(String, otherwise: String)
    }

    enum Action: Sendable, Equatable {
        case set(Value)
        case load(EnvFile)
        case copy(to: String)
        case edit(Value)
        /// Edits one line among all of the only target.
        case editTarget(Value)
        case remove(all: Bool)
        case rename(to: String)
        /// Restores the value that the variable had that many values ago.
        case restore(Int)
        case push
        case harden
    }

    var action: Action
    /// The variable, for a command about one.
    var key = ""
    /// What `-t` names; nil without it.
    var targets: [String]?
    /// What `--type` names; nil without it.
    var type: ValueType?
    var comment: String?
    var pushes = false
    var allowsWeaker = false
    var allowsEmpty = false

    /// The word after `zg-env`.
    var name: String {
        switch action {
        case .set: "set"
        case .load: "import"
        case .copy: "copy"
        case .edit, .editTarget: "edit"
        case .remove: "rm"
        case .rename: "rename"
        case .restore: "restore-version"
        case .push: "push"
        case .harden: "harden"
        }
    }

    /// Whether it may write to Vercel.
    var sends: Bool { pushes || action == .push || action == .harden }
}

/// A file to import.
struct EnvFile: Sendable, Equatable {
    enum Head: Sendable, Equatable {
        case none
        /// Vercel's CLI wrote it.
        case vercelCLI
        /// The first line names a target.
        case target(String)
    }

    enum Content: Sendable, Equatable {
        case value(TargetCommand.Value)
        /// What stands in place of a value that the file's writer was not shown.
        case standIn(String)
        case empty
    }

    struct Line: Sendable, Equatable {
        var name: String
        var content: Content
    }

    /// Where the file's values apply for a command without `-t`.
    enum Choice: Equatable {
        case targets([String])
        /// Those that each variable has, or the standard ones.
        case standard
        case refused
    }

    var name: String
    var head = Head.none
    var lines: [Line]

    static let firstLineOfCLI = "# Created by Vercel CLI"
    static let standIns = [
        "[SENSITIVE]", "SENSITIVE_ENV_VALUE_PLACEHOLDER", "[REDACTED]", "••••••••",
    ]
    /// What Vercel's CLI adds to its files.
    static let namesOfCLI = [
        "VERCEL", "VERCEL_ENV", "VERCEL_URL", "CI", "NX_DAEMON", "TURBO_REMOTE_ONLY",
    ]
    static let tokenName = "VERCEL_OIDC_TOKEN"

    /// The targets that the file itself names: in its first line, else in its name, else by the
    /// program that wrote it.
    var choice: Choice {
        if case .target(let target) = head { return .targets([target]) }
        let parts = name.split(separator: ".").map(String.init)
        if name.hasPrefix(".env."), let place = parts.dropFirst().first {
            if place == "test" { return .refused }
            if TargetNames.all.contains(place) { return .targets([place]) }
        }
        let isLocal = parts.last == "local"
        return isLocal || head == .vercelCLI ? .targets([TargetNames.development]) : .standard
    }

    /// The lines that hold a value for the vault.
    var stored: [Line] {
        lines.filter { line in
            if line.name == Self.tokenName { return false }
            if head == .vercelCLI, Self.namesOfCLI.contains(line.name) { return false }
            switch line.content {
            case .value: return true
            case .standIn: return false
            case .empty: return head != .vercelCLI
            }
        }
    }

    /// Returns the file's text.
    ///
    /// - Parameter value: Finds the text of a value of a variable.
    func text(_ value: (String, TargetCommand.Value) -> String) -> String {
        var text =
            switch head {
            case .none: ""
            case .vercelCLI: Self.firstLineOfCLI + "\n"
            case .target(let target): "# vercel-env: target=\(target)\n"
            }
        for line in lines {
            let content =
                switch line.content {
                case .value(let given): value(line.name, given)
                case .standIn(let text): text
                case .empty: ""
                }
            let isQuoted = head == .vercelCLI || content.contains("•")
            text += line.name + "=" + (isQuoted ? "\"\(content)\"" : content) + "\n"
        }
        return text
    }
}
