internal import CommandLineKit
internal import JSON
internal import Vault

/// The file of `rotate --plan FILE`: JSON that lists rotations, without values. The members of each are
/// options of `rotate`.
struct RotationPlanFile {
    /// What happens to the remaining rotations when one fails.
    enum AfterFailure: String {
        case goOn = "continue"
        case stop
    }

    let requests: [RotationRequest]
    let afterFailure: AfterFailure
    /// Whether to skip variables whose value is younger than its `--rotate-every` period.
    let onlyWhenDue: Bool

    /// The option for each member of a rotation.
    private static let options = Dictionary(
        uniqueKeysWithValues: (RotationRequest.options + [ValueInput.generator]).map {
            (member(of: $0.name), $0.name)
        })

    /// Reads a plan file.
    ///
    /// - Throws: ``ExitCode/usage`` for an unreadable file and for unknown members, because a typo must
    ///   not skip a step.
    init(_ path: String) throws {
        guard let bytes = SmallFile.bytes(path) else {
            throw CommandError(
                .usage, "Cannot read the plan file \(path).")
        }
        func problem(_ what: String) -> CommandError {
            CommandError(.usage, "Invalid plan file \(path): \(what).")
        }
        let wrongFormat = problem("it is not JSON in the format described in docs/rotation.md")
        guard let file = (try? JSONValue(parsing: bytes))?.object else { throw wrongFormat }
        let known = ["rotations", "afterFailure", "onlyWhenDue"]
        if let unknown = file.keys.filter({ !known.contains($0) }).min() {
            throw problem("unknown field \(unknown)")
        }
        guard let rotations = file["rotations"]?.array,
            let afterFailure = file["afterFailure", default: "continue"].string
                .flatMap(AfterFailure.init(rawValue:)),
            let onlyWhenDue = file["onlyWhenDue", default: .bool(false)].bool
        else { throw wrongFormat }
        (self.afterFailure, self.onlyWhenDue) = (afterFailure, onlyWhenDue)
        guard (1...RotationPlan.memberLimit).contains(rotations.count) else {
            throw problem("it must list 1 to \(RotationPlan.memberLimit) rotations")
        }
        requests = try rotations.map { rotation in
            guard var members = rotation.object,
                let key = members.removeValue(forKey: "key")?.string,
                let project = members.removeValue(forKey: "project")?.string
            else { throw wrongFormat }
            if let unknown = members.keys.filter({ Self.options[$0] == nil }).min() {
                throw problem("unknown field \(unknown) in a rotation")
            }
            try VariableName.check(key)
            var request: RotationRequest
            do {
                guard let command = try Self.command(key, members) else { throw wrongFormat }
                request = try RotationRequest(command)
            } catch let error as UsageError {
                throw CommandError(
                    .usage, "Invalid plan file \(path): \(key): \(error.message)",
                    hint: error.hint)
            }
            guard request.source != .input else {
                throw problem("\(key) needs either generate or fromCommand")
            }
            request.projects = [project]
            try request.check()
            return request
        }
    }

    /// Reads the members of a rotation as the options that they are; nil if one is null or an object.
    private static func command(
        _ key: String, _ members: [String: JSONValue]
    ) throws(UsageError) -> ParsedCommand? {
        var words = Rotate.spec.path
        for (name, value) in members {
            let option = "--\(options[name] ?? name)"
            for value in value.array ?? [value] {
                switch value {
                case .bool(let isSet): words += isSet ? [option] : []
                case .string(let text): words.append("\(option)=\(text)")
                case .integer(let number): words.append("\(option)=\(number)")
                case .number(let number): words.append("\(option)=\(number)")
                case .null, .array, .object: return nil
                }
            }
        }
        let program = ProgramSpec(
            name: "zg-env", version: "", summary: "", globalOptions: [],
            sections: [.init("", [Rotate.spec])])
        let result = try ArgumentParser(program).parse(words + ["--", key])
        return if case .command(let command) = result { command } else { nil }
    }

    /// Returns the name of an option in camel case, in the plural if it takes a list.
    private static func member(of option: String) -> String {
        switch option {
        case "also-project": return "alsoProjects"
        case "target": return "targets"
        case "check-url": return "checkURL"
        default:
            let words = option.split(separator: "-")
            return words[0]
                + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
                .joined()
        }
    }
}
