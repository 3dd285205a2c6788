internal import CLinux
internal import CommandLineKit
internal import Glibc
internal import SystemFiles
internal import Vault

/// Checks owner and permissions of our files, their file system, and leftovers of killed writers.
struct FileChecks {
    struct Status: Equatable {
        let kind: mode_t
        let mode: mode_t
        let owner: uid_t

        init(kind: mode_t, mode: mode_t, owner: uid_t) {
            (self.kind, self.mode, self.owner) = (kind, mode, owner)
        }

        /// The status of a path without following links; nil if nothing is there.
        init?(_ path: String) {
            var status = stat()
            guard unsafe lstat(path, &status) == 0 else { return nil }
            self.init(
                kind: status.st_mode & S_IFMT, mode: status.st_mode & 0o7777, owner: status.st_uid)
        }

        /// The status of a passphrase file, following links; nil unless it is a regular file.
        init?(ofPassphraseFile path: String) {
            guard let facts = try? FileFacts(path), SecretFileRule.isKept(facts) else { return nil }
            self.init(kind: S_IFREG, mode: facts.permissions, owner: facts.owner)
        }
    }

    /// The rule for one path.
    struct Rule {
        let check: String
        let path: String
        let kind: mode_t
        /// Permission bits that must not be set.
        let forbidden: mode_t
        /// Whether root may own it, as with a home directory.
        var allowsRoot = false
        /// Whether a directory with the sticky bit may be writable for others.
        var allowsStickyBit = false
        var mustBeWritable = false
        /// Whether to follow links; pipes and devices are ignored then.
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
                allowsRoot: true, allowsStickyBit: true, mustBeWritable: true),
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
                    allowsRoot: true))
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
                    forbidden: rule.forbidden, allowsRoot: rule.allowsRoot, followsLinks: true))
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

    /// Checks the status of a path against its rule; nil if there is nothing.
    ///
    /// - Parameter refusal: The error number of a failed write check; nil if writing is possible.
    static func finding(
        _ rule: Rule, _ status: Status?, user: uid_t, refusal: Int32? = nil
    ) -> Finding? {
        guard let status else { return nil }
        func failed(_ message: String, _ remedy: String?) -> Finding {
            Finding(rule.check, .failed, "\(rule.path) \(message).", remedy: remedy)
        }
        guard status.kind == rule.kind else {
            let kind = rule.kind == S_IFDIR ? "directory" : "regular file"
            return failed(
                "is not a \(kind)", "Move it out of the way; symbolic links are not accepted.")
        }
        guard status.owner == user || (rule.allowsRoot && status.owner == 0) else {
            return failed(
                "belongs to user \(status.owner)", "Run: chown \(user) \(word: rule.path)")
        }
        let isSticky = rule.allowsStickyBit && status.mode & S_ISVTX != 0
        guard status.mode & rule.forbidden == 0 || isSticky else {
            let isSecret = rule.forbidden != 0o022
            return failed(
                isSecret ? "can be opened by other users" : "can be changed by other users",
                "Run: chmod \(isSecret ? "go-rwx" : "go-w") \(word: rule.path)")
        }
        if let refusal {
            return failed(
                refusal == EROFS
                    ? "is on a read-only file system, so the vault cannot be changed"
                    : "cannot be written to, so the vault cannot be changed",
                refusal == EROFS
                    ? "Mount the file system read-write, or choose another path with --vault or ZG_ENV_VAULT."
                    : "Run: chmod u+wx \(word: rule.path)")
        }
        return Finding(rule.check, .ok, "\(rule.path) has safe permissions.")
    }

    /// Returns the error number if a directory cannot be written to.
    private static func refusal(_ path: String) -> Int32? {
        unsafe access(path, W_OK | X_OK) == 0 ? nil : errno
    }

    /// File systems on which locks, renames or `fsync` may not work as on a local disk.
    static let doubtful: [Int64: String] = [
        0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB", 0x6573_5546: "FUSE",
        0x0102_1997: "9P", 0x5346_414F: "AFS", 0x7375_7245: "Coda", 0x00C3_6400: "Ceph",
        0x0BD0_0BD0: "Lustre", 0x0116_1970: "GFS2", 0x7461_636F: "OCFS2", 0x786F_4256: "VirtualBox",
        0xBACB_ACBC: "VMware",
    ]
    /// File systems that are lost on reboot.
    static let passing: [Int64: String] = [0x0102_1994: "tmpfs", 0x8584_58F6: "ramfs"]

    static func fileSystem(_ type: Int64, _ directory: String) -> Finding {
        let check = "file-system"
        guard type >= 0 else {
            return Finding(check, .skipped, "\(directory) does not exist or cannot be checked.")
        }
        if let name = doubtful[type] {
            return Finding(
                check, .warning,
                "\(directory) is on \(name), where locks and recent writes may be lost.",
                remedy:
                    "Move the vault to a local disk, and set --vault or ZG_ENV_VAULT to its new path."
            )
        }
        if let name = passing[type] {
            return Finding(
                check, .warning, "\(directory) is on \(name), which is lost on reboot.",
                remedy: "Move the vault to a disk, and set --vault or ZG_ENV_VAULT to its new path."
            )
        }
        return Finding(check, .ok, "\(directory) is on a local file system.")
    }

    static func temporaries(_ count: Int, _ directory: String) -> Finding {
        let check = "temporaries"
        guard count > 0 else {
            return Finding(check, .ok, "There are no leftover temporary files.")
        }
        return Finding(
            check, .warning,
            "\(directory) has \(DisplayText.count(count, "temporary file")): another command was killed or is writing now.",
            remedy: "The next change to the vault removes them.")
    }

    private var temporaryCount: Int {
        let prefix = PosixFileStore.temporaryPrefix(of: vaultPath)
        return Directory.names(in: directory).count { $0.hasPrefix(prefix) }
    }
}
