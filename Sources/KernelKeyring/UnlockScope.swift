package enum UnlockScope: String, Sendable, CaseIterable {
    /// The processes of this user in this login session.
    case session
    /// All processes of this user: other logins, cron, user services.
    case user
}
