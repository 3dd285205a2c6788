internal import CommandLineKit
internal import EnvOperations
internal import Glibc
internal import Vault

/// Runs the user's commands of a rotation with `/bin/sh`.
struct ShellRotationCommands: RotationCommands {
    let workspace: Workspace
    let plan: RotationPlan
    let values: RotationValues
    /// Inherited by the commands.
    let lock: RotationLock
    /// Returns the host name of a deployment, by member and deployment id.
    let address: (Int, String) -> String?

    func apply(_ side: RotationAction.Side) throws -> RotationProgress.Failure? {
        guard let command = plan.commands.apply else { return nil }
        let (kind, step): (RotationProgress.Failure.Kind, String) =
            side == .new ? (.apply, "apply") : (.undo, "undo")
        return try run(command, step, kind, side)
    }

    func revoke() throws -> RotationProgress.Failure? {
        guard let command = plan.commands.revoke else { return nil }
        return try run(command, "revoke", .revoke, .old)
    }

    func check(
        _ member: Int, deployment: String, _ side: RotationAction.Side
    ) throws -> RotationProgress.Failure? {
        let host = address(member, deployment)
        if let command = plan.commands.check {
            let failure = try run(
                command, "check", .check, side, member: member, deployment: deployment,
                host: host)
            if let failure { return failure }
        }
        guard let text = plan.commands.checkURL else { return nil }
        let url = text.hasPrefix("/") ? "https://\(host ?? "")\(text)" : text
        return try URLCheck(
            workspace: workspace, url: url, status: Int(plan.commands.checkStatus)
        ).failure()
    }

    private func run(
        _ command: String, _ step: String, _ kind: RotationProgress.Failure.Kind,
        _ side: RotationAction.Side, member: Int = 0, deployment: String = "", host: String? = nil
    ) throws -> RotationProgress.Failure? {
        let other: RotationAction.Side = side == .new ? .old : .new
        let environment = Self.environment(
            workspace.context,
            [
                "ZG_ENV_STEP=\(step)", "ZG_ENV_KEY=\(plan.key)",
                "ZG_ENV_PROJECT=\(plan.members[member].name)",
                "ZG_ENV_DEPLOYMENT_ID=\(deployment)",
                "ZG_ENV_DEPLOYMENT_URL=\(host.map { "https://\($0)" } ?? "")",
            ])
        // With --json, stderr is reserved for the error object.
        let messages = workspace.context.messages.descriptor
        let process = RotationProcess(
            command: command, environment: environment,
            messages: workspace.options.json ? nil : messages, lock: lock.descriptor,
            limit: .seconds(Int64(clamping: plan.timeoutSeconds)),
            sleep: { [turns = workspace.session.turns] pause in turns.away { _ = usleep(pause) } },
            shouldStop: { Interrupts.pending != nil })
        let end = try process.run(
            input: try values.value(side), other: try values.value(other))
        switch end {
        case .status(0): return nil
        case .status(let number):
            return .init(kind, "--\(Self.option(step)) failed with exit code \(number)")
        case .timedOut:
            return .init(kind, "--\(Self.option(step)) took longer than \(plan.timeoutSeconds) s")
        case .interrupted: throw RotationInterrupted()
        }
    }

    private static func option(_ step: String) -> String {
        step == "undo" ? "apply (old value)" : step
    }

    /// Returns the environment without zg-env's own secrets, and with only these of the variables
    /// that it sets itself.
    static func environment(_ context: Context, _ entries: [String]) -> [[UInt8]] {
        let own = [
            "ZG_ENV_PASSPHRASE_", "ZG_ENV_KEY_FILE=", "VERCEL_TOKEN=", "ZG_ENV_STEP=",
            "ZG_ENV_KEY=", "ZG_ENV_PROJECT=", "ZG_ENV_DEPLOYMENT_ID=", "ZG_ENV_DEPLOYMENT_URL=",
        ].map { Array($0.utf8) }
        return context.rawEnvironment.filter { entry in !own.contains { entry.starts(with: $0) } }
            + entries.map { Array($0.utf8) }
    }
}
