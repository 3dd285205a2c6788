internal import JSON

extension Team {
    /// Returns the form for a member: whole, or limited by the team's sign-on rules.
    func visibleJSON(user: User) -> JSONValue {
        let whole = json(user: user)
        guard let limitedBy else { return whole }
        let shown = ["id", "slug", "name", "avatar", "createdAt", "membership"]
        var members = (whole.object ?? [:]).filter { shown.contains($0.key) }
        members["limited"] = true
        members["limitedBy"] = .strings(limitedBy)
        if limitedBy.contains("scope") { members["saml"] = ["enforced": true] }
        return .members(members)
    }
}
