internal import CommandLineKit
internal import EnvOperations
internal import Sealing
internal import Vault

/// The values that a push sends or compares: those in memory, or those of the vault, which is unlocked
/// when the first one is needed.
final class PushValues {
    private let session: VaultSession
    private let project: String
    /// A value given to `set --push`, and its version in the vault.
    struct Held {
        let version: UInt64
        let value: SecretSlice
    }

    /// The values given to `set --push`, by record.
    private let atHand: [Identifier: Held]
    private let arena = SecretArena()
    private var opened: [StoredVersion.Name: SecretSlice] = [:]
    private var source: (reader: ValueReader, index: VaultIndex)?

    init(_ session: VaultSession, project: String, atHand: [Identifier: Held]) {
        self.session = session
        self.project = project
        self.atHand = atHand
    }

    /// Throws ``ExitCode/conflict`` if another command has changed what this one wrote.
    ///
    /// - Parameter isMeant: Whether a record is still selected by this command.
    func checkHeld(among variables: [Variable], isMeant: (Variable) -> Bool) throws {
        for (id, held) in atHand {
            let variable = variables.first { $0.id == id }
            if let variable, variable.isLive, variable.currentVersion == held.version,
                isMeant(variable)
            {
                continue
            }
            let name = variable?.name
            throw CommandError(
                .conflict,
                "\(name ?? "The variable") was changed in the vault by another command, so nothing was sent.",
                hint:
                    "Push the vault's current values with: zg-env push -p \(word: project)")
        }
    }

    /// Unlocks the values if none is in memory, so that the prompt comes before anything is sent.
    func open() throws {
        if atHand.isEmpty { _ = try opening() }
    }

    /// Returns the current value of a record.
    func current(_ variable: Variable) throws -> SecretSlice {
        if let held = atHand[variable.id], held.version == variable.currentVersion {
            return held.value
        }
        return try stored(variable)
    }

    /// Returns the current value of a record from the vault.
    func stored(_ variable: Variable) throws -> SecretSlice {
        guard let value = try version(variable.currentVersion, of: variable) else {
            throw CommandError(
                .notFound, "The vault has no value for \(variable.name).")
        }
        return value
    }

    /// Returns which of its versions a record on Vercel has.
    ///
    /// - Returns: Its place; nil for none of them; no value if that cannot be said.
    func place(of theirs: SecretSlice, in candidate: ProjectState.Candidate) throws -> Int?? {
        var isComplete = true
        for (place, (variable, number)) in candidate.versions.enumerated() {
            let ours =
                number == variable.currentVersion
                ? try current(variable) : try version(number, of: variable)
            guard let ours else {
                isComplete = false
                continue
            }
            if ours.equals(theirs) { return .some(place) }
        }
        // Vercel stores an empty value instead of what was sent.
        return isComplete && theirs.count > 0 ? .some(nil) : nil
    }

    /// Returns a version of a record's value, or nil if the vault no longer has it.
    private func version(_ number: UInt64, of variable: Variable) throws -> SecretSlice? {
        let name = StoredVersion.Name(variable: variable.id, version: number)
        if let value = opened[name] { return value }
        let (reader, index) = try opening()
        let current = index.currentVersions[variable.id]
        let stored =
            current?.version == number ? current : History(of: variable, in: index).version(number)
        guard let stored else { return nil }
        let value = try reader.value(of: variable, stored, in: arena)
        opened[name] = value
        return value
    }

    private func opening() throws -> (reader: ValueReader, index: VaultIndex) {
        if let source { return source }
        let keys = try session.keys(.values)
        let vault = try session.opened()
        let index = try vault.index(with: keys, extent: .everything)
        guard let reader = try ValueReader(vault: vault, index: index, keys: keys) else {
            throw CommandError(.locked, "The values are locked.", hint: "Run: zg-env unlock")
        }
        source = (reader, index)
        return (reader, index)
    }
}

extension StoredVersion {
    /// A version by its variable and number.
    struct Name: Hashable {
        let variable: Identifier
        let version: UInt64
    }
}
