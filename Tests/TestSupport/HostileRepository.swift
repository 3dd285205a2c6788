/// What somebody else's git repository, or an environment, may say to have a program run.
package enum HostileRepository {
    /// The hooks that a fetch or a push may run.
    package static let hooks = [
        "pre-receive", "update", "post-receive", "post-update", "proc-receive",
        "reference-transaction", "pre-push",
    ]

    /// Lines for a repository's `config`.
    ///
    /// - Parameters:
    ///   - command: A command of the shell.
    ///   - hooks: A directory of hooks.
    ///   - file: A file to include.
    package static func configuration(
        running command: String, hooks: String, including file: String
    ) -> String {
        """
        [core]
        sshCommand = "\(command);"
        fsmonitor = "\(command);"
        pager = "\(command);"
        gitProxy = "\(command);"
        alternateRefsCommand = "\(command);"
        hooksPath = \(hooks)
        [protocol "ext"]
        allow = always
        [alias]
        ls-remote = "!\(command)"
        [gc]
        recentObjectsHook = "\(command);"
        [include]
        path = \(file)
        [credential]
        helper = "!\(command)"

        """
    }

    /// Variables that lead git to a repository and to a command.
    package static func environment(
        of repository: String, running command: String, tracingTo trace: String
    ) -> [String: String] {
        [
            "GIT_DIR": "\(repository)/.git", "GIT_WORK_TREE": "\(repository)/.git",
            "GIT_OBJECT_DIRECTORY": "\(repository)/.git",
            "GIT_COMMON_DIR": "\(repository)/.git", "GIT_INDEX_FILE": "\(repository)/index",
            "GIT_SSH_COMMAND": command, "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "core.sshCommand", "GIT_CONFIG_VALUE_0": command,
            "GIT_EXTERNAL_DIFF": command, "GIT_ASKPASS": command, "GIT_EDITOR": command,
            "GIT_PROXY_COMMAND": command, "GIT_TRACE": trace,
        ]
    }
}
