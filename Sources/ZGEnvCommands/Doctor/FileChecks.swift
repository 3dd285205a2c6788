internal import CLinux
internal import DotEnv
internal import Glibc
internal import SystemFiles
internal import Vault

/// Owner and permissions of our files, the file system below them, and what killed writers left.
struct FileChecks {
    /// What is at a path.
    struct Status: Equatable {
        let kind: mode_t
        let mode: mode_t
        let owner: uid_t

        init(kind: mode_t, mode: mode_t, owner: uid_t) {
            (self.kind, self.mode, self.owner) = (kind, mode, owner)
        }

        /// What is there, links not followed; nil where there is nothing.
        init?(_ path: String) {
            var status = stat()
            guard unsafe lstat(path, &status) == 0 else { return nil }
            self.init(
                kind: status.st_mode & S_IFMT, mode: status.st_mode & 0o7777, owner: status.st_uid)
        }

        /// The file that a passphrase is read from, through links; nil where none is kept there.
        init?(ofPassphraseFile path: String) {
            guard let facts = try? FileFacts(path), SecretFileRule.isKept(facts) else { return nil }
            self.init(kind: S_IFREG, mode: facts.permissions, owner: facts.owner)
        }
    }

    /// What a path of ours must be.
    struct Rule {
        let check: String
        let path: String
        let kind: mode_t
        /// Permissions that nobody may have.
        let forbidden: mode_t
        /// Whether the system's own may stand there too, such as a home directory of root's.
        var mayBeRoots = false
        /// Whether the sticky bit makes up for a directory that others write to.
        var mayBeSticky = false
        /// Whether we must be able to write there.
        var mustBeWritable = false
        /// Whether what a link leads to counts; a pipe or a device there is passed over.
        var followsLinks = false
    }

    private let vaultPath: String
    private let directory: String
    private let rules: [Rule]

    init(_ workspace: Workspace) {
        let options = workspace.options
        let directories = Directories(workspace.context)
        vaultPath = options.vaultPath
        directory = FileReplacement.directory(of: vaultPath)
        var rules = [
            Rule(check: "vault-file", path: vaultPath, kind: S_IFREG, forbidden: 0o077),
            Rule(
                check: "vault-directory", path: directory, kind: S_IFDIR, forbidden: 0o022,
                mayBeRoots: true, mayBeSticky: true, mustBeWritable: true),
            Rule(
                check: "lock-file", path: vaultPath + ".lock", kind: S_IFREG, forbidden: 0o077),
        ]
        if let state = try? directories.state {
            rules.append(
                Rule(check: "state-directory", path: state, kind: S_IFDIR, forbidden: 0o077))
        }
        if let configuration = directories.configuration {
            rules.append(
                Rule(
                    check: "settings-file", path: configuration, kind: S_IFREG, forbidden: 0o022,
                    mayBeRoots: true))
        }
        if let keyFile = options.keyFile {
            rules.append(
                Rule(check: "key-file", path: keyFile, kind: S_IFREG, forbidden: 0o077))
        }
        if case .file(let path) = PassphraseSource(options, workspace.context) {
            let rule = SecretFileRule.ofPassphraseFile(path, workspace.context)
            rules.append(
                Rule(
                    check: "passphrase-file", path: path, kind: S_IFREG,
                    forbidden: rule.forbidden, mayBeRoots: rule.mayBeRoots, followsLinks: true))
        }
        self.rules = rules
    }

    func findings() -> [Finding] {
        rules.compactMap { rule in
            Self.finding(
                rule,
                rule.followsLinks ? Status(ofPassphraseFile: rule.path) : Status(rule.path),
                user: geteuid(), refusal: rule.mustBeWritable ? Self.refusal(rule.path) : nil)
        } + [
            unsafe Self.fileSystem(zg_file_system_type(directory), directory),
            Self.temporaries(temporaryCount, directory),
        ]
    }

    /// Holds what is at a path against its rule; nil where there is nothing to judge.
    ///
    /// - Parameter refusal: Why the kernel lets us write nothing there; nil where it does.
    static func finding(
        _ rule: Rule, _ status: Status?, user: uid_t, refusal: Int32? = nil
    ) -> Finding? {
        guard let status else { return nil }
        func failed(_ message: String, _ remedy: String?) -> Finding {
            Finding(rule.check, .failed, "\(rule.path) \(message).", remedy: remedy)
        }
        guard status.kind == rule.kind else {
            let kind = rule.kind == S_IFDIR ? "directory" : "regular file"
            return failed("is no \(kind)", "Move it away; a link does not count.")
        }
        guard status.owner == user || (rule.mayBeRoots && status.owner == 0) else {
            return failed(
                "belongs to user \(status.owner)", "Run: chown \(user) \(word: rule.path)")
        }
        let isSticky = rule.mayBeSticky && status.mode & S_ISVTX != 0
        guard status.mode & rule.forbidden == 0 || isSticky else {
            let isSecret = rule.forbidden != 0o022
            return failed(
                isSecret ? "can be opened by other users" : "can be written to by other users",
                "Run: chmod \(isSecret ? "go-rwx" : "go-w") \(word: rule.path)")
        }
        if let refusal {
            return failed(
                refusal == EROFS
                    ? "is on a file system that is read-only, so the vault cannot be changed"
                    : "cannot be written to, so the vault cannot be changed",
                refusal == EROFS
                    ? "Mount it for writing, or name another place with --vault or ZG_ENV_VAULT."
                    : "Run: chmod u+wx \(word: rule.path)")
        }
        return Finding(rule.check, .ok, "\(rule.path) is for its owner alone to change.")
    }

    /// Why nothing can be written into a directory; nil where it can.
    private static func refusal(_ path: String) -> Int32? {
        unsafe access(path, W_OK | X_OK) == 0 ? nil : errno
    }

    /// File systems on which locks, renames or `fsync` may not mean what they do on a local disk.
    static let doubtful: [Int64: String] = [
        0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB", 0x6573_5546: "FUSE",
        0x0102_1997: "9P", 0x5346_414F: "AFS", 0x7375_7245: "Coda", 0x00C3_6400: "Ceph",
        0x0BD0_0BD0: "Lustre", 0x0116_1970: "GFS2", 0x7461_636F: "OCFS2", 0x786F_4256: "VirtualBox",
        0xBACB_ACBC: "VMware",
    ]
    /// File systems that go with the machine's next start.
    static let passing: [Int64: String] = [0x0102_1994: "tmpfs", 0x8584_58F6: "ramfs"]

    static func fileSystem(_ type: Int64, _ directory: String) -> Finding {
        let check = "file-system"
        guard type >= 0 else {
            return Finding(check, .skipped, "\(directory) is not there or cannot be looked at.")
        }
        if let name = doubtful[type] {
            return Finding(
                check, .warning,
                "\(directory) is on \(name), where locks and what is written last may get lost.",
                remedy: "Keep the vault on a local disk, and name it with --vault or ZG_ENV_VAULT.")
        }
        if let name = passing[type] {
            return Finding(
                check, .warning, "\(directory) is on \(name), which is gone with the next start.",
                remedy: "Keep the vault on a disk, and name it with --vault or ZG_ENV_VAULT.")
        }
        return Finding(check, .ok, "\(directory) is on a local file system.")
    }

    static func temporaries(_ count: Int, _ directory: String) -> Finding {
        let check = "temporaries"
        guard count > 0 else {
            return Finding(check, .ok, "No killed writer left anything behind.")
        }
        return Finding(
            check, .warning,
            "\(count) file\(count == 1 ? "" : "s") of killed writers lie\(count == 1 ? "s" : "") in "
                + "\(directory), or somebody is writing now.",
            remedy: "The next change of the vault removes what is left over.")
    }

    private var temporaryCount: Int {
        let prefix = PosixFileStore.temporaryPrefix(of: vaultPath)
        return Directory.names(in: directory).count { $0.hasPrefix(prefix) }
    }
}
