import Foundation

/// A model test's sequence as shell lines, for a person to replay.
struct ModelScript {
    /// The machines' letters.
    static let names = ["a", "b", "c"]

    private(set) var lines: [String] = []

    /// The setup that the lines need.
    static let head = """
        # zg-env-sandbox --port 8100 --build-seconds 0.05 --seed seed.json, where seed.json is \(ModelWorld.seed)
        # a and b are copies of one vault (init --kdf 8MiB,1; login; pull -p web), c has a vault of its own made in
        # the same way; each has its own ZG_ENV_VAULT, ZG_ENV_AUDIT_LOG, XDG_STATE_HOME and XDG_CACHE_HOME:
        # a() { ZG_ENV_API_URL=http://127.0.0.1:8100 ZG_ENV_VAULT=a.zgv … zg-env "$@"; }
        # control() { curl -s -H "Authorization: Bearer $TOKEN" "$@"; }, where TOKEN is the one that the sandbox prints
        # faults() { jq -n '{faults: $ARGS.positional}' --args -- "$@" | control -X PUT --json @- 127.0.0.1:8100/_sandbox/faults; }
        # act() { control --json "$1" 127.0.0.1:8100/_sandbox/acts; }
        """

    /// Adds a step.
    ///
    /// - Parameter end: How it ended.
    mutating func add(_ step: ModelStep, _ end: String) {
        switch step {
        case .clock(let seconds):
            lines.append(
                "control --json '{\"advanceSeconds\": \(seconds)}' 127.0.0.1:8100/_sandbox/clock")
        case .policy(let separates):
            lines.append(
                "control -X PUT --json '{\"projects\": {\"web\": {\"disjunctiveProductionSecretPolicy\": \"\(separates ? "on" : "off")\"}}}' 127.0.0.1:8100/_sandbox/settings"
            )
        case .act(let text): lines.append("act '\(Self.json(text))'  # \(end)")
        case .command(let command): add(command, end)
        }
    }

    private mutating func add(_ command: ModelCommand, _ end: String) {
        if !command.faults.isEmpty {
            lines.append("faults " + command.faults.map(Self.quoted).joined(separator: " "))
        }
        if command.build != "ok" {
            lines.append(
                "control -X PUT --json '{\"build\": \"\(command.build)\"}' 127.0.0.1:8100/_sandbox/faults"
            )
        }
        var line = Self.names[command.machine] + " "
        line += command.words.map(Self.quoted).joined(separator: " ")
        if let input = command.input { line = "printf %s \(Self.quoted(input)) | " + line }
        line += "  # \(end)"
        if let kill = command.kill {
            line +=
                "; killed at request \(kill.request)\(kill.countsWrites ? " that writes" : ""), "
                + "\(kill.fate.rawValue)"
        }
        lines.append(line)
        if let interlude = command.interlude {
            lines.append("#   while it asks: act '\(Self.json(interlude))', then y")
        }
        if !command.faults.isEmpty { lines.append("faults") }
    }

    /// Returns a word quoted for the shell.
    static func quoted(_ word: String) -> String {
        let plain = word.allSatisfy {
            $0.isASCII && ($0.isLetter || $0.isNumber || "-_=/.,:@+".contains($0))
        }
        return plain && !word.isEmpty
            ? word : "'" + word.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }

    /// Returns an act in the syntax of the sandbox's control address.
    private static func json(_ act: String) -> String {
        let parts = act.split(separator: ",").map(String.init)
        let members = parts.dropFirst().compactMap { part -> String? in
            guard let split = part.firstIndex(of: "=") else { return nil }
            let (name, value) = (part[..<split], String(part[part.index(after: split)...]))
            let isList = ["targets", "newTargets"].contains(name)
            let shown =
                isList
                ? "[" + value.split(separator: "+").map { "\"\($0)\"" }.joined(separator: ", ")
                    + "]"
                : "\"\(value)\""
            return "\"\(name)\": \(shown)"
        }
        return "{" + (["\"act\": \"\(parts.first ?? "")\""] + members).joined(separator: ", ") + "}"
    }
}
