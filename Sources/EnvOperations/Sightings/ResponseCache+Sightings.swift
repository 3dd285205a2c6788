package import Vault

extension ResponseCache {
    /// Returns what was last seen of a project; nil if nothing recent is kept.
    ///
    /// - Parameter now: The time by this machine's clock, in milliseconds since 1970.
    package func sighting(of project: Identifier, now: UInt64) -> ProjectSighting? {
        guard let kept = answer(at: Self.address(of: project)),
            ResponseCachePolicy.isShown(kept.askedAt, now: now)
        else { return nil }
        return kept.value()
    }

    package func keep(
        _ sighting: ProjectSighting, of project: Identifier, askedAt: UInt64, now: UInt64
    ) {
        keep([Self.address(of: project): sighting], askedAt: askedAt, now: now)
    }

    /// Belongs to no account: it says when records changed, not what Vercel shows to whom.
    private static func address(of project: Identifier) -> ResponseKey {
        ResponseKey(
            origin: "", account: "", scope: "", subject: .sighting(project: project.hexadecimal))
    }
}
