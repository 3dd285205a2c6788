internal import CommandLineKit

/// Every command: from here come parsing, help, completions and the tests that run each.
enum CommandTable {
    /// The commands, in the order of the help text.
    static var commands: [any Command.Type] {
        [
            // The vault.
            Init.self, Status.self, Unlock.self, Lock.self, UnlockReadBack.self, Passwd.self,
            SlotList.self, SlotAdd.self, SlotRemove.self, Rekey.self, Verify.self, Backup.self,
            Restore.self,
            ShowLog.self, ConfigGet.self, ConfigSet.self, ConfigList.self, Doctor.self,
            // Variables.
            List.self, Show.self, Reveal.self, ClearClipboard.self, SetVariable.self, Edit.self,
            Remove.self, Import.self, Export.self, Convert.self, Difference.self, Copy.self,
            Run.self, Scan.self, ShowHistory.self, RestoreVersion.self, PruneHistory.self,
            Rename.self, ProjectRename.self, ProjectRemove.self,
            // The platform.
            Login.self, Logout.self, AccountList.self, AccountUse.self, ProjectList.self, Link.self,
            Pull.self, Push.self, Harden.self, Rotate.self, Redeploy.self, DeploymentList.self,
            DeploymentShow.self, DeploymentLogs.self, DeploymentPromote.self,
            DeploymentRollback.self, DeploymentCancel.self, DeploymentDelete.self, WebhookList.self,
            WebhookCreate.self, WebhookDelete.self,
            Watch.self,
            NotifySet.self, NotifyShow.self, NotifyRun.self, NotifyTest.self, NotifyInstall.self,
            PostalJoin.self, PostalStatus.self, PostalLeave.self,
            // The tool itself.
            CompletionScript.self, CompletionCandidates.self, ManualPages.self,
        ]
    }

    static let version = "0.1.0"

    /// The description of the whole program.
    static let program = ProgramSpec(
        name: "zg-env", version: version,
        summary: "Keep environment variables sealed, and the platform in step",
        globalOptions: GlobalOptions.specs, commands: commands.map { $0.spec },
        groups: [
            .init(["project"], "Work with projects"), .init(["slot"], "Ways to open the vault"),
            .init(["config"], "Work with the settings"),
            .init(["account"], "Work with accounts of the platform"),
            .init(["deployment"], "Work with deployments"),
            .init(["webhook"], "Work with the platform's webhooks"),
            .init(["notify"], "Be told of deployments on the desktop"),
            .init(["postal"], "Be told at once, by a relay of the platform's events"),
        ],
        exitCodes: ExitCode.allCases.map {
            .init($0.rawValue, $0.meaning, common: [.done, .failed, .usage].contains($0))
        } + [
            .init(125, "run itself failed"), .init(126, "the program cannot be executed"),
            .init(127, "there is no such program"),
        ],
        variables: [
            .init("ZG_ENV_PASSPHRASE_COMMAND", "a command that prints the passphrase"),
            .init("VERCEL_TOKEN", "a token for the platform, used and not stored"),
            .init("VERCEL_ORG_ID", "with VERCEL_PROJECT_ID, the project of the platform"),
            .init("VERCEL_PROJECT_ID", "with VERCEL_ORG_ID, the project of the platform"),
            .init("NO_COLOR", "no colours"),
        ])

    /// The command of a description.
    static func command(of spec: CommandSpec) -> (any Command.Type)? {
        commands.first { $0.spec.path == spec.path }
    }
}
