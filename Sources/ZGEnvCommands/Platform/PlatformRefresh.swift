internal import CommandLineKit
internal import EnvOperations
internal import Vault
internal import VercelAPI

/// `--refresh` of commands that only look: sees the platform first, so that what they say of it is
/// of now. Nothing is sent but reads, and no value is read.
enum PlatformRefresh {
    /// Brings the vault's view of the platform up to date where `--refresh` asks for it.
    ///
    /// A project that is on no platform has nothing to refresh, which is said.
    static func runIfAsked(_ invocation: Invocation) throws {
        guard invocation.options.refresh else { return }
        let bound: BoundProject
        do {
            bound = try BoundProject.inVault(invocation)
        } catch let error as CommandError where error.code == .notFound {
            invocation.context.warn("not-refreshed", "Nothing was refreshed. \(error.message)")
            return
        }
        guard let project = bound.local else { return }
        let client = bound.access.client
        let names = CustomEnvironmentNames(
            try client.customEnvironments(ofProject: bound.platform.id))
        let listedAt = invocation.context.now()
        let platform = try client.environmentVariables(ofProject: bound.platform.id).map {
            PlatformRecord($0, environments: names)
        }
        let (live, time) = (bound.platform.liveDeployment, invocation.context.now())
        try invocation.session.update(with: try invocation.session.indexKeys()) { transaction in
            transaction.see(platform, listedAt: listedAt, of: project.id)
            transaction.see(live: live, of: project.id, time: time)
        }
        try SharedListing.keep(of: bound, invocation)
    }
}

extension Project {
    /// What serves production, in the vault's terms.
    var liveDeployment: VaultProject.LiveDeployment? {
        production.flatMap { deployment in
            deployment.createdAt.map {
                .init(id: deployment.id, createdAt: UInt64(clamping: $0.milliseconds))
            }
        }
    }
}
