internal import CommandLineKit
internal import Release

/// All commands: the source for parsing, help, completions and the tests that run each one.
enum CommandTable {
    /// The commands by the headings of the help, in its order.
    private static let sections: [(title: String, commands: [any Command.Type])] = [
        (
            "Common commands",
            [
                Status.self, List.self, Reveal.self, SetVariable.self, Edit.self, Import.self,
                Run.self, Check.self, Difference.self, Pull.self, Push.self, Redeploy.self,
                Rotate.self,
                Watch.self,
            ]
        ),
        (
            "Variables",
            [
                Show.self, Remove.self, Rename.self, Copy.self, Export.self, Convert.self,
                Scan.self, ShowHistory.self, RestoreVersion.self, PruneHistory.self,
            ]
        ),
        (
            "Projects and Vercel",
            [
                Login.self, Logout.self, AccountList.self, AccountUse.self, Link.self,
                ProjectList.self, ProjectCreate.self, ProjectRename.self, ProjectRemove.self,
                Harden.self,
                Projects.self, OpenPage.self, DeploymentList.self, DeploymentShow.self,
                DeploymentLogs.self,
                DeploymentPromote.self, DeploymentRollback.self, DeploymentCancel.self,
                DeploymentDelete.self,
            ]
        ),
        (
            "Groups",
            [
                Share.self, GroupSync.self, GroupInvite.self, GroupJoin.self, GroupShow.self,
                GroupAdopt.self, GroupAccept.self, Resolve.self, GroupRoleChange.self,
                GroupRemove.self, GroupExposure.self, GroupLeave.self,
            ]
        ),
        (
            "Notifications",
            [
                NotifySet.self, NotifyShow.self, NotifyRun.self, NotifyTest.self,
                NotifyInstall.self, PostalJoin.self, PostalStatus.self, PostalLeave.self,
                WebhookList.self, WebhookCreate.self, WebhookDelete.self,
            ]
        ),
        (
            "Vault",
            [
                Init.self, Unlock.self, Lock.self, Passwd.self, SlotList.self, SlotAdd.self,
                SlotRemove.self, Rekey.self, Verify.self, Exposure.self, Backup.self, Restore.self,
                ShowLog.self, ConfigGet.self, ConfigSet.self, ConfigUnset.self,
                ConfigList.self, Doctor.self, Try.self,
                CompletionScript.self,
            ]
        ),
        (
            "Internal",
            [
                ClearClipboard.self, UnlockReadBack.self, PassphraseStrength.self,
                CompletionCandidates.self, ManualPages.self,
            ]
        ),
    ]

    /// All commands, in the order of the help.
    static var commands: [any Command.Type] { sections.flatMap(\.commands) }

    /// The description of the whole program.
    static let program = ProgramSpec(
        name: "zg-env", version: Release.version,
        summary: "Encrypted environment variables for projects on Vercel",
        firstSteps: [
            .init("zg-env try", "Demonstrate the main commands with made-up data"),
            .init("zg-env init", "Create a vault"),
            .init("zg-env login", "Store a Vercel token in the vault"),
            .init("zg-env link PROJECT", "Link this directory to a Vercel project"),
            .init("zg-env import .env", "Import a .env file"),
            .init("zg-env run -- npm run dev", "Run a program with the variables"),
            .init("zg-env push", "Send the changes to Vercel"),
        ],
        globalOptions: GlobalOptions.specs,
        sections: sections.map { .init($0.title, $0.commands.map { spec(of: $0) }) },
        synonyms: [
            "get": "reveal", "add": "set", "unset": "rm", "delete": "rm",
            // Of Vercel's own program.
            "env": "list", "env ls": "list", "env list": "list", "env pull": "pull",
            "env add": "set",
            "env update": "set", "env rm": "rm", "env remove": "rm", "env run": "run",
        ],
        groups: [
            .init(["project"], "List, create, rename or remove projects"),
            .init(["group"], "Share projects with people and machines"),
            .init(["slot"], "Manage the ways to open the vault"),
            .init(["config"], "Read and change settings"),
            .init(["account"], "List Vercel accounts and choose the default"),
            .init(["deployment"], "List, show, promote, roll back or delete deployments"),
            .init(["webhook"], "Manage webhooks on Vercel"),
            .init(["notify"], "Show desktop notifications for deployments"),
            .init(["postal"], "Receive Vercel events through a relay"),
        ],
        exitCodes: ExitCode.allCases.map {
            .init($0.rawValue, $0.meaning, common: [.done, .failed, .usage].contains($0))
        } + [
            .init(125, "run: zg-env itself failed"), .init(126, "run cannot execute the program"),
            .init(127, "run cannot find the program"),
            .init(129, "ended by a hang-up"), .init(130, "ended by Ctrl-C (SIGINT)"),
            .init(131, "ended by SIGQUIT"), .init(141, "stdout was closed"),
            .init(143, "ended by SIGTERM"),
        ],
        variables: [
            .init("ZG_ENV_PASSPHRASE_COMMAND", "Command that prints the passphrase"),
            .init("VERCEL_TOKEN", "Vercel token to use without storing it"),
            .init("VERCEL_ORG_ID", "Vercel team or user ID; requires VERCEL_PROJECT_ID"),
            .init("VERCEL_PROJECT_ID", "Vercel project ID; requires VERCEL_ORG_ID"),
            .init("NO_COLOR", "Disable colors"),
        ],
        files: [
            .init("~/.local/share/zg-env/vault.zgv", "The vault (XDG_DATA_HOME, or --vault)"),
            .init(
                "~/.local/state/zg-env/",
                "The audit log, rollback guards and notification choices of this machine (XDG_STATE_HOME)"
            ),
            .init("~/.cache/zg-env/", "Encrypted responses from Vercel (XDG_CACHE_HOME)"),
            .init("~/.config/zg-env/config.json", "Settings (XDG_CONFIG_HOME)"),
            .init(".zg-env.json", "The project of a directory, as written by zg-env link"),
        ])

    private static func spec(of command: any Command.Type) -> CommandSpec {
        command.changesVariables ? command.spec.adding(FollowUps.options) : command.spec
    }

    /// The members that the output of every command can have with `--json`.
    static let commonFields = "\(Renderer.fields); \(GroupPublication.fields); \(PushOption.fields)"

    /// The command of a description.
    static func command(of spec: CommandSpec) -> (any Command.Type)? {
        commands.first { $0.spec.path == spec.path }
    }
}
