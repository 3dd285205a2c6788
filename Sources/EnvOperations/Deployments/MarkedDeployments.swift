internal import Vault
package import VercelAPI

/// Creates deployments with a marker, by which they are found if the response is lost and
/// distinguished from others' deployments of the same source.
package struct MarkedDeployments {
    /// The result of a request.
    package enum Outcome {
        /// The deployment, from the response or found by its marker.
        case made(Deployment)
        /// The response was lost, and Vercel shows no deployment with the marker.
        case notShown
        /// The response was lost, and looking for the marker failed as well.
        case unknown(VercelAPIError)
    }

    private let client: VercelClient
    private let project: String

    /// - Parameter project: Vercel's id of the project.
    package init(_ client: VercelClient, project: String) {
        self.client = client
        self.project = project
    }

    /// Returns the deployment with a marker. Another user's redeploy of it has the same marker but
    /// is later.
    package func made(_ mark: String) throws(VercelAPIError) -> Deployment? {
        var filter = DeploymentFilter()
        filter.projectId = project
        filter.limit = 100
        return try client.deployments(filter).last { $0.mark == mark }
    }

    /// Creates a deployment, adding a marker if it has none. The request is sent once.
    ///
    /// - Throws: Vercel's rejection; nothing was created.
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
