/// Why an entry is not valid, as named in `docs/group-format.md`, section 3.1.
package enum EntryRefusal: String, Sendable, CaseIterable {
    case group, previous, number, author, signature, join, member, key, invite
    case oneAdmin = "one-admin"
    case noChange = "no-change"
    case lastAdmin = "last-admin"
    case cut, epoch, recipients, grants
}
