internal import CommandLineKit
internal import Vault

/// `--push` of `set` and `rm`: sends just these records.
enum PushAfterwards {
    static let options: [OptionSpec] = []

    static func push(
        _ variables: [Identifier], of project: VaultProject, _ invocation: Invocation,
        beside result: CommandResult
    ) throws -> CommandResult {
        result
    }
}
