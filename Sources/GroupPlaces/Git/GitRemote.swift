internal import Groups
internal import SystemFiles

/// The other side: the repository that members share.
struct GitRemote {
    /// The ref of a group: outside of branches, or a branch if the host rejects others.
    struct Head: Equatable {
        let ref: String
        /// The commit that it has, in hexadecimal digits.
        let commit: String
    }

    /// How a push ended.
    enum Push {
        case done
        /// The ref had another commit, or may have.
        case raced
        /// The lock file of the ref is there, which a git that was killed leaves behind.
        case locked
        /// The host rejects this ref, for good. With its reason.
        case refused(String)
    }

    let address: PlaceAddress
    private let program: GitProgram
    /// The permissions of a repository on a path.
    private let permissions: UInt32?

    init(_ address: PlaceAddress, _ program: GitProgram) {
        (self.address, self.program) = (address, program)
        permissions =
            address.kind == .repository
            ? (try? FileFacts("\(address.text)/objects"))?.permissions : nil
    }

    static let customRefs = "refs/zg-env/"
    static let branches = "refs/heads/zg-env/"

    static func customRef(of group: GroupHash) -> String { customRefs + group.hexadecimal }
    static func branch(of group: GroupHash) -> String { branches + group.hexadecimal.prefix(16) }

    /// Options that protect us from a repository on a path.
    private func otherSide(_ name: String) -> [String] {
        permissions.map {
            ["--\(name)=\(GitProgram.otherSide(name, permissions: $0))"]
        } ?? []
    }

    /// Lists refs with one request.
    func heads(_ patterns: [String]) throws(PlaceError) -> [Head] {
        let result = try program.run(
            ["ls-remote", "--refs", "--quiet"] + otherSide("upload-pack") + ["--", address.text]
                + patterns, longestOutput: 64 << 20)
        guard result.isDone else { throw GitFailure.error(result, at: address) }
        return String(decoding: result.output, as: UTF8.self).split(separator: "\n").compactMap {
            let parts = $0.split(separator: "\t", maxSplits: 1)
            guard parts.count == 2, GitRepository.isName(parts[0]) else { return nil }
            return Head(ref: String(parts[1]), commit: String(parts[0]))
        }
    }

    /// Returns the head of a group, or nil if the group is not there. A ref outside of branches
    /// precedes a branch, for all members in the same way.
    func head(of group: GroupHash) throws(PlaceError) -> Head? {
        let refs = [Self.customRef(of: group), Self.branch(of: group)]
        let heads = try heads(refs)
        return refs.lazy.compactMap { ref in heads.first { $0.ref == ref } }.first
    }

    /// Fetches the newest commit of a ref, without history: its tree has all objects.
    func fetch(_ ref: String, to own: String) throws(PlaceError) -> GitProgram.Result {
        let words =
            [
                "fetch", "--progress", "--no-write-fetch-head", "--no-tags", "--depth=1",
                "--no-recurse-submodules", "--force",
            ] + otherSide("upload-pack") + ["--", address.text, "+\(ref):\(own)"]
        let result = try program.run(words, isFetch: true)
        return !result.isDone && GitFailure.isFromDeadSender(result)
            ? try program.run(words, isFetch: true) : result
    }

    /// Sets a ref to a commit, if the ref's commit is in the commit's past, or if it does not exist.
    ///
    /// - Parameter commit: nil deletes the ref.
    func push(_ commit: String?, to ref: String) throws(PlaceError) -> Push {
        let result = try program.run(
            [
                "push", "--porcelain", "--progress", "--no-verify", "--no-follow-tags",
                "--no-signed", "--recurse-submodules=no",
            ] + otherSide("receive-pack") + ["--", address.text, "\(commit ?? ""):\(ref)"])
        if result.isDone { return .done }
        // "!", the refs, and the reason, separated by tabs.
        for line in String(decoding: result.output, as: UTF8.self).split(separator: "\n")
        where line.hasPrefix("!\t") {
            let reason = line.split(separator: "\t").last.map { String($0).lowercased() } ?? ""
            guard reason.hasPrefix("[remote rejected]") else {
                if reason.hasPrefix("[rejected]") { return .raced }
                break
            }
            let passing = [
                "failed to update", "cannot lock", "failed to lock", "incorrect old value",
                "already exists", "reference already", "shallow", "missing necessary", "unpacker",
                "stale info", "atomic",
            ]
            guard passing.contains(where: { reason.contains($0) }) else { return .refused(reason) }
            let message = result.error.lowercased()
            if ["no space left", "permission denied"].contains(where: { message.contains($0) }) {
                break
            }
            return result.error.contains("/\(ref).lock': File exists") ? .locked : .raced
        }
        throw GitFailure.error(result, at: address)
    }
}
