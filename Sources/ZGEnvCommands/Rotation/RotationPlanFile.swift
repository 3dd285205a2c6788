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
        uniqueKeysWithValues: (RotationRequest.specs + [ValueInput.generator]).map {
            (member(of: $0.name), $0)
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
        guard let file = Self.object(try? JSONValue(parsing: bytes)) else { throw wrongFormat }
        let known = ["rotations", "afterFailure", "onlyWhenDue"]
        if let unknown = file.keys.filter({ !known.contains($0) }).min() {
            throw problem("unknown field \(unknown)")
        }
        guard let rotations = file["rotations"]?.array,
            let afterFailure = file["afterFailure", default: "continue"].string
                .flatMap(AfterFailure.init(rawValue:)),
            let onlyWhenDue = file["onlyWhenDue", default: false].bool
        else { throw wrongFormat }
        (self.afterFailure, self.onlyWhenDue) = (afterFailure, onlyWhenDue)
        guard (1...RotationPlan.memberLimit).contains(rotations.count) else {
            throw problem("it must list 1 to \(RotationPlan.memberLimit) rotations")
        }
        requests = try rotations.map { rotation in
            guard var members = Self.object(rotation),
                let key = members.removeValue(forKey: "key")?.string,
                let project = members.removeValue(forKey: "project")?.string
            else { throw wrongFormat }
            if let unknown = members.keys.filter({ Self.options[$0] == nil }).min() {
                throw problem("unknown field \(unknown) in a rotation")
            }
            var words: [String] = []
            for (member, value) in members.sorted(by: { $0.key < $1.key }) {
                guard let option = Self.options[member],
                    let more = Self.words(option, value)
                else { throw problem("\(member) of \(key) has the wrong type") }
                words += more
            }
            do {
                try VariableName.check(key)
                var request = try Self.request(words, key)
                request.projects = [project]
                try request.check()
                guard request.source != .input else {
                    throw CommandError(.usage, "Either generate or fromCommand is required.")
                }
                return request
            } catch {
                let cause = CommandError(mapping: error)
                throw CommandError(
                    cause.code, "Invalid plan file \(path): \(key): \(cause.message)",
                    hint: cause.hint)
            }
        }
    }

    /// The members that are not null; nil if it is no object.
    private static func object(_ value: JSONValue?) -> [String: JSONValue]? {
        value?.object?.filter { $0.value != .null }
    }

    /// Returns an option as words; nil if it does not take a value of that type.
    private static func words(_ option: OptionSpec, _ value: JSONValue) -> [String]? {
        let name = option.dashedName
        switch value {
        case .bool(let isSet) where option.isFlag: return isSet ? [name] : []
        case .array(let elements) where !option.isFlag && option.isRepeatable:
            let texts = elements.compactMap(\.string)
            return texts.count == elements.count ? texts.map { "\(name)=\($0)" } : nil
        case .integer(let number):
            guard case .integer = option.form else { return nil }
            return ["\(name)=\(number)"]
        case .string(let text) where !option.isFlag && !option.isRepeatable:
            if case .integer = option.form { return nil }
            return ["\(name)=\(text)"]
        default: return nil
        }
    }

    private static func request(_ words: [String], _ key: String) throws -> RotationRequest {
        let program = ProgramSpec(
            name: "zg-env", version: "", summary: "", globalOptions: [],
            sections: [.init("", [Rotate.spec])])
        let result = try ArgumentParser(program).parse(Rotate.spec.path + words + ["--", key])
        guard case .command(let command) = result else {
            throw UsageError(.unexpectedArgument, "A field is not an option of rotate.")
        }
        return try RotationRequest(command)
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
