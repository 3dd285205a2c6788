package import Vault

/// What Vercel was just seen to have of a project.
package struct ProjectSnapshot: Sendable {
    package let project: Identifier
    package let records: ListedRecords
    package let live: VaultProject.LiveDeployment?
    /// Whether anything is live, even if Vercel does not say since when.
    package let isDeployed: Bool
    /// When the list was requested, by this machine's clock.
    package let listedAt: UInt64
    /// Vercel's time of the list.
    package let vercelTime: UInt64

    package init(
        project: Identifier, records: ListedRecords, live: VaultProject.LiveDeployment?,
        isDeployed: Bool, listedAt: UInt64, vercelTime: UInt64
    ) {
        (self.project, self.records, self.live) = (project, records, live)
        (self.isDeployed, self.listedAt, self.vercelTime) = (isDeployed, listedAt, vercelTime)
    }
}
