internal import EnvOperations
internal import Sealing
internal import Vault

/// The old and the new value of a rotation, decrypted on demand.
final class RotationValues {
    private let session: VaultSession
    private let plan: RotationPlan
    private let arena = SecretArena()
    private var opened: [StoredVersion.Name: SecretSlice] = [:]

    init(_ session: VaultSession, _ plan: RotationPlan) {
        self.session = session
        self.plan = plan
    }

    /// Returns a side's value in one project, or nil if the vault does not have it.
    func value(
        _ side: RotationAction.Side, ofMember member: Int
    ) throws -> SecretSlice? {
        for record in plan.members[member].records {
            let version = side == .new ? record.newVersion : record.oldVersion
            guard version > 0 else { continue }
            if let value = try value(of: record.variable, version) { return value }
        }
        return nil
    }

    /// Returns a side's value from the first project that has it.
    func value(_ side: RotationAction.Side) throws -> SecretSlice? {
        for member in plan.members.indices {
            if let value = try value(side, ofMember: member) { return value }
        }
        return nil
    }

    private func value(of variable: Identifier, _ number: UInt64) throws -> SecretSlice? {
        let name = StoredVersion.Name(variable: variable, version: number)
        if let value = opened[name] { return value }
        let keys = try session.keys(.values)
        let vault = try session.opened()
        let index = try vault.index(with: keys, extent: .everything)
        guard let reader = try ValueReader(vault: vault, index: index, keys: keys),
            let record = index.variables.first(where: { $0.id == variable }),
            let version = History(of: record, in: index).version(number)
        else { return nil }
        let value = try reader.value(of: record, version, in: arena)
        opened[name] = value
        return value
    }
}
