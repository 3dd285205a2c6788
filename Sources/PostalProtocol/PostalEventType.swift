/// The event types, by Vercel's newer names; `docs/postal-protocol.md` lists them.
package enum PostalEventType: String, CaseIterable, Codable, Sendable {
    case deploymentCreated = "deployment.created"
    case deploymentReady = "deployment.ready"
    case deploymentSucceeded = "deployment.succeeded"
    case deploymentError = "deployment.error"
    case deploymentCanceled = "deployment.canceled"
    case deploymentPromoted = "deployment.promoted"
    case deploymentRollback = "deployment.rollback"
    case deploymentBlocked = "deployment.blocked"
    case deploymentCleanup = "deployment.cleanup"
    case projectCreated = "project.created"
    case projectRemoved = "project.removed"
    case projectRenamed = "project.renamed"
    case variableCreated = "project.env-variable.created"
    case variableUpdated = "project.env-variable.updated"
    case variableDeleted = "project.env-variable.deleted"

    /// Maps a webhook's type, also one of the older names; nil for types that devices do not
    /// receive.
    package init?(webhookName name: String) {
        switch name {
        case "deployment": self = .deploymentCreated
        case "deployment-ready": self = .deploymentReady
        case "deployment-error": self = .deploymentError
        case "deployment-canceled": self = .deploymentCanceled
        case "project-created": self = .projectCreated
        case "project-removed": self = .projectRemoved
        default: self.init(rawValue: name)
        }
    }

    /// Whether it is about a variable, so that a project has to be refreshed.
    package var concernsVariable: Bool {
        switch self {
        case .variableCreated, .variableUpdated, .variableDeleted: true
        default: false
        }
    }
}
