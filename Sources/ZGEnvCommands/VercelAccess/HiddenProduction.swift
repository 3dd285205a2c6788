internal import EnvOperations
internal import JSON
internal import Vault

/// What commands say if Vercel hides production variables from the token: what is not listed may
/// exist, so nothing counts as removed and nothing is written to production.
enum HiddenProduction {
    /// Warns if a project's list is not complete.
    static func warn(_ listed: ListedRecords, of project: String, _ context: Context) {
        guard !listed.isComplete else { return }
        context.warn(
            "hidden-production",
            "\(listed.hidingClause) in \(project), so missing variables are not treated as removed."
        )
    }

    /// Returns the error of a command that would write to production.
    ///
    /// - Parameters:
    ///   - what: What was not done, as the end of a sentence after "so".
    ///   - rest: What can be done nevertheless, as a sentence; empty if nothing can.
    static func refusal(
        _ listed: ListedRecords, of project: String, _ what: String, rest: String = ""
    ) -> CommandError {
        let hint =
            "Use a token that has access to production variables: set VERCEL_TOKEN, or run zg-env login and then use --account NAME."
        return CommandError(
            .unauthorized, "\(listed.hidingClause) in \(project), so \(what).",
            hint: rest.isEmpty ? hint : "\(hint) \(rest)")
    }

    static let fields =
        "hiddenProduction?: number | null (variables of production that Vercel does not show)"

    /// The member of a command's result.
    static func member(_ listed: ListedRecords) -> JSONValue.Member {
        .init("hiddenProduction", .integer(Int64(listed.hiddenProduction)))
    }
}
