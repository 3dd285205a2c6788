internal import EnvOperations
internal import Vault

/// The state of a project on Vercel, read before a push is planned.
struct VercelReading {
    /// The names of custom environments; empty if no variable applies to one.
    let environments: CustomEnvironmentNames
    let records: ListedRecords
    /// The same variables, read again once older than a second.
    let listing: FreshListing
    /// The time of the request by this machine's clock, in milliseconds since 1970.
    let listedAt: UInt64
    /// Vercel's time then, in milliseconds since 1970.
    let vercelTime: UInt64
}

extension CustomEnvironmentNames {
    /// Rejects targets that neither side knows, since doing nothing would look like success.
    func check(_ places: Scope?, _ variables: [Variable], in project: String) throws {
        let known = variables.flatMap { $0.attributes.scope.customEnvironments }
        for name in places?.customEnvironments ?? []
        where id(of: name) == nil && !known.contains(name) {
            throw CommandError(
                .usage, "\(project) has no custom environment \(name).",
                hint: "The other targets are production, preview and development.")
        }
    }
}
