internal import CommandLineKit
internal import EnvSchema
internal import JSON

/// `check --print`: what the schema declares, without a vault if `--schema` names the file.
struct PrintedSchema {
    let options: SchemaOptions
    let scope: ScopeOptions

    func run(in workspace: Workspace) throws -> CommandResult {
        let names = try scope.targetNames().names ?? []
        guard names.count <= 1 else {
            throw CommandError(.usage, "check --print takes only one target.")
        }
        let file = try ProjectSchema.readable(options, workspace)
        let schema: Schema
        do throws(SchemaError) {
            schema = try file.read(for: names.first)
        } catch {
            return CommandResult(
                json: Schema.json(of: .failure(error)),
                failure: CommandError(reading: error, file.path))
        }
        workspace.show(schema.notes, of: file)
        return CommandResult(
            json: schema.json,
            text: TerminalStyle(workspace.context).text(table(schema)))
    }

    private func table(_ schema: Schema) -> Table {
        var table = Table([
            .init("NAME"), .init("REQUIRED"), .init("SENSITIVE"), .init("TYPE"),
            .init("DESCRIPTION", canShrink: true),
        ])
        for item in schema.items {
            table.append([
                .init(item.key), .init(Self.text(item.requirement)),
                .init(item.isSensitive.map { $0 ? "yes" : "no" } ?? ""),
                .init(item.type?.name.rawValue ?? ""),
                .init(item.description?.split(separator: "\n").first.map(String.init) ?? ""),
            ])
        }
        return table
    }

    private static func text(_ requirement: SchemaRequirement) -> String {
        switch requirement {
        case .always: "yes"
        case .never: "no"
        case .depends: "depends"
        case .environments(let names): "in \(names.joined(separator: ", "))"
        case .exceptEnvironments(let names): "except in \(names.joined(separator: ", "))"
        }
    }
}
