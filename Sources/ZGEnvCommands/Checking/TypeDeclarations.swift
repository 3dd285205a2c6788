internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import EnvSchema
internal import JSON
internal import Sealing
internal import SystemFiles
internal import Vault

/// `check --types`: the declared variables as types for other tools. The same schema gives the same bytes.
struct TypeDeclarations {
    enum Form: String, CaseIterable {
        case typeScript = "ts"
        case jsonSchema = "json-schema"
    }

    private let form: Form
    private let options: SchemaOptions
    private let scope: ScopeOptions
    private let path: String?
    private let onlyCompares: Bool

    /// - Parameters:
    ///   - path: The file to write; nil for stdout.
    ///   - onlyCompares: Whether to write nothing and fail if the file differs.
    init(
        _ form: Form, _ options: SchemaOptions, _ scope: ScopeOptions, path: String?,
        onlyCompares: Bool
    ) {
        (self.form, self.options, self.scope) = (form, options, scope)
        (self.path, self.onlyCompares) = (path, onlyCompares)
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        guard !onlyCompares || path != nil else {
            throw CommandError(.usage, "--exit-code needs -o FILE to compare with.")
        }
        let file = try ProjectSchema.readable(options, workspace)
        let text = try text(file, workspace)
        guard let path else {
            return CommandResult(json: ["text": .string(text)], text: text)
        }
        let old = OpenFile.wholeBytes(of: path, limit: 16 << 20)
        let isSame = old.map { $0.elementsEqual(text.utf8) } ?? false
        let json: JSONValue = [
            "file": .string(path), "changed": .bool(!isSame),
            "dryRun": .bool(workspace.options.dryRun),
        ]
        if onlyCompares {
            guard !isSame else { return CommandResult(json: json) }
            return CommandResult(
                json: json,
                failure: CommandError(
                    .failed, "\(path) does not match the schema.",
                    hint:
                        "Update the file with: zg-env check --types \(form.rawValue) -o \(word: path)"
                ))
        }
        if !isSame, !workspace.options.dryRun {
            try Array(text.utf8).withBytes {
                try PrivateFile.write($0, to: path, replaces: true)
            }
            workspace.note("Wrote \(path).")
        }
        return CommandResult(json: json)
    }

    private func text(_ file: ProjectSchema, _ workspace: Workspace) throws -> String {
        let targets = try scope.targetNames().names ?? Scope.Targets.all.names
        let index = try workspace.session.indexWithoutPrompt()
        let mapping = EnvironmentMapping(
            customEnvironments: targets.filter { Scope.Targets(name: $0) == nil },
            settings: index?.schemaEnvironments ?? [:])
        var schemas: [(schema: Schema, target: String)] = []
        for target in targets { schemas.append((try file.schema(for: target), target)) }
        // A variable that only some profiles declare is not there everywhere.
        var items: [SchemaItem] = []
        for (schema, _) in schemas {
            for item in schema.items where !items.contains(where: { $0.key == item.key }) {
                items.append(item)
            }
        }
        func isRequiredEverywhere(_ item: SchemaItem) -> Bool {
            schemas.allSatisfy { schema, target in
                schema.items.contains {
                    $0.key == item.key && mapping.holds($0.requirement, for: target)
                }
            }
        }
        let name = file.path.split(separator: "/").last.map(String.init) ?? file.path
        switch form {
        case .typeScript:
            return TypeScriptDeclarations.text(
                items: items, isRequiredEverywhere: isRequiredEverywhere, schemaName: name)
        case .jsonSchema:
            return JSONSchemaDeclarations.text(
                items: items, isRequiredEverywhere: isRequiredEverywhere, schemaName: name)
        }
    }
}
