internal import CommandLineKit
internal import Vault

/// The question before empty values replace others, which are rarely meant to.
struct EmptyValues {
    static let option = OptionSpec(
        flag: "allow-empty", "Allow replacing a value with an empty one")

    /// Why a plan must wait for an answer.
    struct Refusal: Error {
        /// The keys whose values empty ones would replace.
        let keys: [String]
    }

    /// What did not happen without an answer, such as "Nothing was copied."
    private let outcome: String
    private let question: String
    private var allowed: Set<String> = []
    private var allowsAll: Bool

    /// - Parameter isAllowed: Whether all were allowed beforehand.
    init(_ outcome: String, _ question: String, isAllowed: Bool) {
        (self.outcome, self.question, allowsAll) = (outcome, question, isAllowed)
    }

    /// Returns whether an empty value may replace another one of this key.
    func allows(_ key: String) -> Bool { allowsAll || allowed.contains(key) }

    /// Returns the same with all allowed.
    var allowingAll: EmptyValues {
        var copy = self
        copy.allowsAll = true
        return copy
    }

    /// - Parameter keys: Those whose values empty ones would replace.
    /// - Throws: ``Refusal`` unless all are allowed.
    func check(_ keys: [String]) throws(Refusal) {
        let open = keys.filter { !allows($0) }
        if !open.isEmpty { throw Refusal(keys: open) }
    }

    func error(_ refusal: Refusal) -> CommandError {
        CommandError(
            .usage, "Empty values would replace the values of \(VariableName.list(refusal.keys)).",
            hint: "\(outcome) Use --allow-empty if they are meant to be empty.")
    }

    /// Makes a plan, and asks if it would put empty values over others. `--yes` does not answer.
    ///
    /// - Parameter plan: Throws ``Refusal`` for what is not allowed.
    /// - Throws: ``ExitCode/usage`` if no one can be asked, ``ExitCode/failed`` if the answer is no.
    mutating func asking<Plan>(
        _ workspace: Workspace, _ plan: (EmptyValues) throws -> Plan
    ) throws -> Plan {
        do {
            return try plan(self)
        } catch let refusal as Refusal {
            let options = workspace.options
            guard !options.yes, !options.json, workspace.interaction.canConfirm else {
                throw error(refusal)
            }
            if options.dryRun {
                workspace.note("Would ask before empty values replace others.")
            }
            _ = try workspace.confirm(
                ["Empty values would replace the values of \(VariableName.list(refusal.keys))."],
                question)
            allowed.formUnion(refusal.keys)
            return try plan(self)
        }
    }

    /// Makes a plan again in a transaction, where no one can be asked.
    ///
    /// - Throws: ``ExitCode/usage`` for what was not allowed.
    func planning<Plan>(_ plan: (EmptyValues) throws -> Plan) throws -> Plan {
        do { return try plan(self) } catch let refusal as Refusal { throw error(refusal) }
    }
}
