/// What a failed command of git means.
enum GitFailure {
    /// Translates a failure of ls-remote, fetch or push.
    ///
    /// - Returns: An error with ``PlaceError/Code/localCopy`` if nothing points at the place.
    static func error(_ result: GitProgram.Result, at place: PlaceAddress) -> PlaceError {
        let text = result.error.lowercased()
        func says(_ phrases: String...) -> Bool { phrases.contains { text.contains($0) } }
        let detail = lastLine(result.error).map { " git says: \($0)" } ?? ""
        if says("no space left", "disk quota exceeded") {
            return PlaceError(
                .noSpace,
                "The disk of this machine or of the place is full. Free some space, retry.")
        }
        if says("file too large") {
            return PlaceError(.tooLarge, "The place has more than 1 GiB of new data.")
        }
        let isSenderDead = isFromDeadSender(result)
        if says("fsck error", "fsck failed") || !isSenderDead && says(senderFailure) {
            return PlaceError(
                .damaged,
                "The place contains data that git rejects. Someone with access to it should delete "
                    + "the group's ref; the next sync of each member publishes everything again.")
        }
        if isSenderDead {
            return PlaceError(
                .unreachable,
                "The program that sends at \(place) ended too early. Retry. If that does not "
                    + "help, find out on that machine what ends it.")
        }
        if says("mismatched algorithms", "hash algorithm") {
            return PlaceError(
                .refused,
                "The repository uses SHA-256, which is not supported. Create one with SHA-1.")
        }
        if says("host key verification failed") {
            return PlaceError(
                .authentication,
                "The host key of the place is unknown or has changed. Connect with ssh once and"
                    + " check the key.")
        }
        if says(
            "authentication failed", "could not read username", "could not read password",
            "permission denied (", "terminal prompts disabled", "too many authentication failures",
            "invalid username or", "returned error: 401", "returned error: 403",
            "access denied", "invalid credentials")
        {
            return PlaceError(
                .authentication,
                "The place does not accept your credentials. Check that git can push to it."
                    + detail)
        }
        if says("dubious ownership") {
            return PlaceError(
                .refused,
                "The repository belongs to another user, and git refuses to use it. If you trust its"
                    + " owner, run: git config --global --add safe.directory PATH")
        }
        if says("transport '"), says("not allowed") {
            return PlaceError(
                .insecureAddress,
                "git's configuration replaces the address with one that uses another protocol. "
                    + "Check url.*.insteadOf.")
        }
        if says(
            "could not resolve", "couldn't connect", "failed to connect", "connection refused",
            "connection timed out", "connection reset", "connection closed", "unable to access",
            "could not read from remote repository", "does not appear to be a git repository",
            "not found", "does not exist", "network is unreachable", "no route to host",
            "operation timed out", "the remote end hung up", "early eof", "unexpected disconnect",
            "rpc failed", "ssl certificate", "no such file or directory", "broken pipe")
        {
            return PlaceError(
                .unreachable,
                "Cannot reach \(place). Check the network and the address." + detail)
        }
        if says("permission denied", "read-only file system") {
            return PlaceError(
                .refused,
                "You are not allowed to write to the place. Check your permissions." + detail)
        }
        return PlaceError(.localCopy, "git failed at \(place)." + detail)
    }

    private static let senderFailure = "repository corruption on the remote side"

    /// Whether the program that sends at the place was killed. git suspects damage then, too, but a
    /// damaged repository makes that program name an object first.
    static func isFromDeadSender(_ result: GitProgram.Result) -> Bool {
        let text = result.error.lowercased()
        return text.contains(senderFailure)
            && !text.contains("remote: fatal: ") && !text.contains("remote: error: ")
    }

    /// fetch-pack writes this when the program below it, which writes the reason, has failed.
    private static let repetition = "fatal: fetch-pack: "

    /// The lines that git itself wrote about an error. Those of the host begin with "remote: ".
    private static func ownLines(_ text: String) -> [Substring] {
        text.split(whereSeparator: { $0 == "\n" || $0 == "\r" || $0 == "\r\n" }).filter { line in
            let line = line.lowercased()
            return line.hasPrefix("fatal: ") || line.hasPrefix("error: ") || line.hasPrefix("ssh: ")
        }
    }

    /// The last line that git wrote about the reason, without control characters and credentials of
    /// URLs.
    static func lastLine(_ text: String) -> String? {
        let own = ownLines(text)
        guard let line = own.last(where: { !$0.hasPrefix(repetition) }) ?? own.last
        else { return nil }
        var shown = ""
        for word in line.split(separator: " ") {
            // Everything up to the last @ of a word may be a password.
            let isAddress = word.contains("://") || word.contains("@")
            let scalars = (isAddress ? "(address)" : String(word)).unicodeScalars.filter { scalar in
                // Directions of text are format characters.
                ![.control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned]
                    .contains(scalar.properties.generalCategory)
            }
            shown += (shown.isEmpty ? "" : " ") + String(String.UnicodeScalarView(scalars))
        }
        return shown.count > 200 ? shown.prefix(200) + "…" : shown
    }
}
