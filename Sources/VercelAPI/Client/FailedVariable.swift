/// A variable that Vercel rejected.
package struct FailedVariable: Sendable, Equatable {
    /// The name, if Vercel reports it.
    package let key: String?
    /// The targets, as far as Vercel reports them.
    package let targets: [String]
    package let error: VercelAPIError
}

extension FailedVariable {
    /// Creates the error of one failed item of a batch.
    init(_ item: APIErrorBody, status: Int, secrets: ResponseSecrets) {
        self.init(
            key: item.key.flatMap { UntrustedText.word($0, secrets) },
            targets: item.targets.prefix(20).compactMap { UntrustedText.word($0, secrets) },
            error: VercelAPIError(item: item, status: status, secrets: secrets))
    }
}
