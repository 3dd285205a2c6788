internal import Vault
package import VercelAPI

/// Makes deployments of a project that are found again by their marks: where an answer is lost, what was
/// made is told from what somebody else made of the same source at the same time.
package struct MarkedDeployments {
    /// What became of a request.
    package enum Outcome {
        /// The deployment, from the answer or by its mark.
        case made(Deployment)
        /// The answer was lost, and the platform shows no deployment with the mark.
        case notShown
        /// The answer was lost, and then that of the look; why.
        case unknown(VercelAPIError)
    }

    private let client: VercelClient
    private let project: String

    /// - Parameter project: The platform's id.
    package init(_ client: VercelClient, project: String) {
        self.client = client
        self.project = project
    }

    /// The deployment with a mark. A redeploy of it by somebody else has the mark too, and is later.
    package func made(_ mark: String) throws(VercelAPIError) -> Deployment? {
        var filter = DeploymentFilter()
        filter.projectId = project
        filter.limit = 100
        return try client.deployments(filter).last { $0.mark == mark }
    }

    /// Makes a deployment, with a mark of its own where it has none. It is asked for once.
    ///
    /// - Throws: The platform's refusal: nothing was made.
    package func make(_ new: NewDeployment) throws(VercelAPIError) -> Outcome {
        var new = new
        let mark = new.mark ?? Identifier.random().hexadecimal
        new.mark = mark
        do throws(VercelAPIError) {
            return .made(try client.createDeployment(new))
        } catch {
            guard error.code == .outcomeUnknown else { throw error }
        }
        do throws(VercelAPIError) {
            return try made(mark).map { .made($0) } ?? .notShown
        } catch {
            return .unknown(error)
        }
    }
}
