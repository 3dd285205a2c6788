internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Sealing
internal import Vault
internal import VercelAPI

/// `diff --remote`, which changes neither the vault nor Vercel.
struct RemoteDifference {
    static let option = OptionSpec(flag: "remote", "Compare with Vercel instead of a file")

    private let options: ScopeOptions
    private let namesOnly: Bool
    private let failsOnDifference: Bool

    /// Compares everything.
    init() {
        options = ScopeOptions(nil)
        (namesOnly, failsOnDifference) = (false, false)
    }

    init(_ command: ParsedCommand) throws {
        guard command.argument("FILE") == nil, command.value("dialect") == nil,
            !command.has("expand")
        else {
            throw CommandError(
                .usage, "--remote cannot be combined with FILE, --dialect or --expand.")
        }
        options = ScopeOptions(command)
        namesOnly = command.has("names")
        failsOnDifference = command.has("exit-code")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let place = options.isEmpty ? nil : try options.place(workspace)
        // Asks for the passphrase before it waits for the network.
        let keys =
            try workspace.session.keys(namesOnly ? .index : .values)
        let bound = try LinkedProject.inVault(workspace)
        guard let project = bound.local else {
            throw CommandError(.notFound, "The vault does not contain this project.")
        }
        let vault = try workspace.session.opened()
        let index = try vault.index(with: keys, extent: namesOnly ? .listing : .currentValues)
        let variables = index.variables(of: project.id)
        let client = bound.access.client
        let names = CustomEnvironmentNames(
            try client.customEnvironments(ofProject: bound.platform.id))
        if case .custom(let name)? = place?.environment, names.id(of: name) == nil,
            !variables.contains(where: { $0.attributes.scope.customEnvironments.contains(name) })
        {
            throw CommandError(
                .usage,
                "\(project.name) has no custom environment \(name).")
        }
        let arena = SecretArena()
        let listing = VercelListing(
            try client.environmentVariables(ofProject: bound.platform.id, valuesInto: arena),
            environments: names)
        let sides = VercelDifference.Sides(
            variables: variables, platform: listing.records, place: place)
        let difference: VercelDifference
        if namesOnly {
            difference = try VercelDifference(sides, isEqual: nil)
        } else {
            let reader = try ValueReader.required(vault, index, keys)
            let theirs = try self.values(of: sides, listing, bound, into: arena, workspace)
            difference = try VercelDifference(sides) { pair in
                guard let theirs = theirs[pair.record.id],
                    let ours = try reader.currentValue(of: pair.variable, in: arena)
                else { return nil }
                return ours.equals(theirs)
            }
        }
        HiddenProduction.warn(listing.all, of: project.name, workspace.context)
        return result(difference, project, place, listing, workspace)
    }

    /// Returns the values that Vercel reveals of the records on both sides, by record ID.
    private func values(
        of sides: VercelDifference.Sides, _ listing: VercelListing, _ bound: LinkedProject,
        into arena: SecretArena, _ workspace: Workspace
    ) throws -> [String: SecretSlice] {
        let progress = WorkProgress(workspace)
        defer { progress.finish() }
        var values = listing.values
        let wanted = sides.both.filter {
            $0.variable.currentVersion > 0 && $0.record.attributes.kind != .sensitive
                && values[$0.record.id] == nil
        }.map(\.record)
        let answers = try VercelValues(bound.access.client, project: bound.platform.id)
            .read(
                wanted, into: arena,
                progress: { done in progress.update("Read \(done) of \(wanted.count) values…") })
        for (record, answer) in zip(wanted, answers) {
            do throws(VercelAPIError) {
                if let value = try answer.get() { values[record.id] = value }
            } catch {
                // Deleted since it was listed; the next run reports it as removed.
                guard error.code == .notFound else { throw error }
            }
        }
        return values
    }

    private func result(
        _ difference: VercelDifference, _ project: VaultProject,
        _ place: ValueTarget?, _ listing: VercelListing, _ workspace: Workspace
    ) -> CommandResult {
        var members: [JSONValue.Member] = [
            .init("project", .string(project.name)), .init("target", .string(orNull: place?.title)),
            .init("file", .null),
        ]
        for state in DifferenceState.allCases where state != .present || namesOnly {
            members.append(.init(state.rawValue, .strings(difference.keys(state))))
        }
        members.append(.init("compared", .bool(!namesOnly)))
        members.append(.init("variables", .array(difference.entries.map(Self.json))))
        members.append(
            .init("skipped", .strings(listing.skipped.map(\.note.key).sorted())))
        members.append(HiddenProduction.member(listing.all))
        var table = Table([
            .init(""), .init("", canShrink: true), .init("", canShrink: true), .init(""),
        ])
        for entry in difference.entries {
            table.append([
                entry.state.cell, .init(entry.key), .init(entry.scope.description, as: .dim),
                .init(entry.differing.joined(separator: ", ")),
            ])
        }
        return CommandResult(
            json: .object(members), text: TerminalStyle(workspace.context).text(table),
            failure: failsOnDifference
                ? DifferenceState.failure(
                    difference.differences.count, "\(project.name) and Vercel") : nil)
    }

    private static func json(_ entry: VercelDifference.Entry) -> JSONValue {
        .object(
            [.init("key", .string(entry.key))] + entry.scope.members + [
                .init("state", .string(entry.state.rawValue)),
                .init("differing", .strings(entry.differing)),
            ])
    }
}
