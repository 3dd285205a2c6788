extension VariableAttributes {
    /// Returns whether the index can store these, and a Vercel record with this id and key.
    /// Anything beyond the limits could be written but not read again.
    package func fitsIndex(id: String, key: String) -> Bool {
        let texts = scope.customEnvironments + [id]
        return !id.isEmpty && !key.isEmpty && key.utf8.count <= VaultFormat.nameLimit
            && texts.allSatisfy { $0.utf8.count <= VaultFormat.textLimit }
            && scope.customEnvironments.count <= 1_000 && !scope.isEmpty
            && (scope.branch?.utf8.count ?? 0) <= 1_024
            && (comment?.utf8.count ?? 0) <= VaultFormat.commentLimit
    }
}
