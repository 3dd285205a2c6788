/// A variable that was refused.
package struct FailedVariable: Sendable, Equatable {
    /// Its name, as far as the platform says.
    package let key: String?
    /// Its targets, as far as the platform says.
    package let targets: [String]
    /// Its branch, as far as the platform says.
    package let gitBranch: String?
    /// Why.
    package let error: VercelAPIError
}

extension FailedVariable {
    /// Reads one failed item of a batch.
    init(_ item: APIErrorBody, status: Int, secrets: AnswerSecrets) {
        self.init(
            key: item.key.flatMap { UntrustedText.word($0, secrets) },
            targets: item.targets.prefix(20).compactMap { UntrustedText.word($0, secrets) },
            gitBranch: item.gitBranch.flatMap { UntrustedText.name($0, secrets) },
            error: VercelAPIError(item: item, status: status, secrets: secrets))
    }
}
