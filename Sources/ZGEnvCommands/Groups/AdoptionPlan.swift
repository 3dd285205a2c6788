internal import CommandLineKit
internal import EnvOperations
internal import Groups
internal import Sealing
internal import Vault

/// What adopting a group's project does to the own project that has the wanted name.
struct AdoptionPlan {
    /// A variable that both projects have with one name and scope.
    private struct Pair {
        let own: Variable
        let twin: Variable
        let isEqual: Bool
    }

    let own: VaultProject
    /// The own project's new name.
    let keptName: String
    private let pairs: [Pair]
    private let onlyOwn: [Variable]
    /// Whether the group proposes the Vercel project that the own project is linked to: then the link
    /// moves, with what is known of Vercel.
    private let movesBinding: Bool
    private let directories: [IndexMetadata.ApprovedDirectory]
    private let earlier: Set<Identifier>

    /// - Parameter values: Opens the values of `index`, whose records were accepted.
    init(
        of own: VaultProject, _ project: Identifier, _ proposal: GroupBinding?,
        in index: VaultIndex, _ values: ValueReader
    ) throws {
        self.own = own
        keptName = index.unusedProjectName(own.name, suffix: " (before)")
        let theirs = index.variables(of: project)
        var (pairs, onlyOwn): ([Pair], [Variable]) = ([], [])
        for variable in index.variables(of: own.id) {
            let twin = theirs.first {
                $0.name.utf8.elementsEqual(variable.name.utf8)
                    && $0.attributes.scope == variable.attributes.scope
            }
            guard let twin else {
                onlyOwn.append(variable)
                continue
            }
            pairs.append(
                Pair(
                    own: variable, twin: twin, isEqual: try Self.areEqual(variable, twin, values)))
        }
        (self.pairs, self.onlyOwn) = (pairs, onlyOwn)
        let moves = proposal?.isSame(as: own.binding) == true
        movesBinding = moves
        directories = index.metadata.approvedDirectories.filter {
            $0.vaultProject == own.id && (moves || $0.organisation.isEmpty)
        }
        earlier = Set(index.earlierVersions.map(\.variable))
    }

    private static func areEqual(
        _ own: Variable, _ twin: Variable, _ values: ValueReader
    ) throws -> Bool {
        let arena = SecretArena()
        guard let left = try values.currentValue(of: own, in: arena),
            let right = try values.currentValue(of: twin, in: arena)
        else { return false }
        return left.equals(right)
    }

    // MARK: Describing

    /// The names of variables that stay in the own project because the group has another value.
    var differing: [String] { pairs.filter { !$0.isEqual }.map(\.own.name) }
    /// The names of variables that become one.
    var equal: [String] { pairs.filter(\.isEqual).map(\.own.name) }
    /// The names of variables that the group does not have.
    var missing: [String] { onlyOwn.map(\.name) }

    /// Lines for the question.
    func lines(_ project: String) -> [String] {
        var lines = ["rename your own project \(own.name) to \(keptName)"]
        func add(_ names: [String], _ text: String) {
            if !names.isEmpty { lines.append("\(names.joined(separator: ", ")): \(text)") }
        }
        add(equal, "keep one, because both have the same value")
        add(differing, "use the group's value; yours stays in \(keptName)")
        add(missing, "leave in \(keptName), because the group does not have it")
        for directory in directories { lines.append("use \(project) in \(directory.path)") }
        if movesBinding, let binding = own.binding {
            lines.append("keep \(own.name) linked to the Vercel project \(binding.projectName)")
        }
        return lines
    }

    /// The commands that give the group what stayed in the own project.
    func commands(_ name: String) -> [String] {
        let kept = pairs.filter { !$0.isEqual }.map(\.own) + onlyOwn
        let places = "-p \(word: keptName) --to-project \(word: name)"
        func isOne(_ variable: Variable) -> Bool {
            (pairs.map(\.own) + onlyOwn).count { $0.name == variable.name } == 1
        }
        let plain = kept.filter(isOne).map { "\(word: $0.name) " }.joined()
        return (plain.isEmpty ? [] : ["zg-env copy \(plain)\(places)"])
            + kept.filter { !isOne($0) }.map {
                "zg-env copy \(word: $0.name)\($0.attributes.scope.optionText) \(places)"
            }
    }

    // MARK: Applying

    /// Changes both projects. Nothing here is news for the group.
    func apply(
        to transaction: inout VaultTransaction, _ project: Identifier, at time: UInt64
    ) throws {
        guard try transaction.index.sends(of: own.id).isEmpty else {
            throw CommandError(
                .conflict, "A push of \(own.name) was interrupted, and its outcome is unknown.",
                hint: "Finish it first with: zg-env push -p \(word: own.name)")
        }
        guard let from = transaction.index.projects.firstIndex(where: { $0.id == own.id }),
            let into = transaction.index.projects.firstIndex(where: { $0.id == project })
        else { throw ProjectResolver.notFound(own.name, in: transaction.index) }
        transaction.index.projects[from].name = keptName
        if movesBinding { moveBinding(from: from, into: into, &transaction) }
        // What is linked to Vercel keeps its records: erasing one would forget what Vercel has.
        if transaction.index.projects[from].binding == nil {
            mergeEqual(&transaction, at: time)
        }
        for directory in directories {
            transaction.index.metadata.approve(
                .init(
                    path: directory.path, project: directory.project,
                    organisation: directory.organisation, vaultProject: project))
        }
        let isEmpty = !transaction.index.variables.contains { $0.project == own.id }
        if isEmpty, transaction.index.projects[from].binding == nil {
            transaction.index.projects.remove(at: from)
        }
    }

    private func mergeEqual(_ transaction: inout VaultTransaction, at time: UInt64) {
        var erased: Set<Identifier> = []
        for pair in pairs where pair.isEqual {
            // Its earlier values are nowhere else.
            if earlier.contains(pair.own.id) {
                guard let place = transaction.position(of: pair.own.id) else { continue }
                transaction.index.variables[place].deletedAt = time
            } else {
                erased.insert(pair.own.id)
            }
        }
        transaction.erase(erased)
    }

    private func moveBinding(
        from: Int, into: Int, _ transaction: inout VaultTransaction
    ) {
        let before = transaction.index.projects[from]
        transaction.index.projects[into].binding = before.binding
        transaction.index.projects[into].live = before.live
        transaction.index.projects[into].seenAt = before.seenAt
        transaction.index.projects[from].binding = nil
        transaction.index.projects[from].live = nil
        transaction.index.projects[from].seenAt = 0
        for pair in pairs {
            guard var remote = pair.own.remote,
                let place = transaction.position(of: pair.twin.id)
            else { continue }
            // The numbers of versions are those of one record; 0 for a value that Vercel lacks.
            let isPushed = pair.isEqual && remote.pushedVersion == pair.own.currentVersion
            remote.pushedVersion = isPushed ? pair.twin.currentVersion : 0
            remote.earlier = nil
            transaction.index.variables[place].remote = remote
        }
        for place in transaction.index.variables.indices
        where transaction.index.variables[place].project == own.id {
            transaction.index.variables[place].remote = nil
        }
    }
}

extension GroupBinding {
    /// Whether this is the Vercel project of a link.
    func isSame(as binding: VaultProject.Binding?) -> Bool {
        guard let binding else { return false }
        return origin == binding.origin && project == binding.projectID && team == binding.teamID
    }
}
