package import Vault

/// Stores a rotation: the vault.
package protocol RotationStore {
    /// Saves the state of the rotation on disk, before the recorded step starts.
    func keep(_ rotation: RotationEntry) throws

    /// Makes the value of a side the current one of a project's records. Idempotent.
    ///
    /// - Returns: Why that is not possible, for example because another person set a different value.
    func makeCurrent(
        _ side: RotationAction.Side, ofMember member: Int, _ rotation: RotationEntry
    ) throws -> RotationProgress.Failure?
}

/// The state of an awaited deployment.
package enum RotationBuildState: Equatable, Sendable {
    case underWay
    case live
    /// Another deployment, with that id, was created since the start, is live and has the value
    /// too.
    case overtaken(by: String)
    /// It is built, and its production domains wait for a promotion.
    case staged(RotationProgress.Failure)
    case ended(RotationProgress.Failure)
}

/// The result of a push.
package enum RotationPushResult: Equatable, Sendable {
    /// It was pushed and read back.
    case done
    /// Nothing was sent, because another person changed the variable on Vercel.
    case notSent(RotationProgress.Failure)
    /// It failed; something may have been sent.
    case failed(RotationProgress.Failure)
}

/// Vercel, as a rotation uses it. Failures are results; errors end the command and leave the
/// rotation open.
package protocol RotationRemote: AnyObject {
    /// Pushes the current values of a project's records and reads them back. First checks what an
    /// earlier attempt may have done.
    func push(_ member: Int) throws -> RotationPushResult

    /// Returns what Vercel's records of a project contain, without changing anything.
    func standing(_ member: Int) throws -> Result<RotationRemoteValue, RotationProgress.Failure>

    /// Creates a deployment.
    ///
    /// - Parameter mayExist: Whether an earlier attempt may have created it; it is searched
    ///   first.
    /// - Returns: Its id.
    func create(
        _ member: Int, _ build: RotationProgress.Build, _ side: RotationAction.Side,
        mayExist: Bool
    ) throws -> Result<String, RotationProgress.Failure>

    /// Polls deployments once.
    ///
    /// - Parameters:
    ///   - builds: The deployments with their projects.
    ///   - side: The value that they should have.
    /// - Returns: The states by project.
    func states(
        of builds: [(member: Int, build: RotationProgress.Build)], _ side: RotationAction.Side
    ) throws -> [Int: RotationBuildState]

    /// Promotes a staged deployment and waits until it is live. Idempotent.
    func promote(
        _ member: Int, _ build: RotationProgress.Build
    ) throws -> RotationProgress.Failure?

    /// Reads the variables that a deployment was built with and compares them with both values.
    func evidence(
        of deployment: String, _ member: Int
    ) throws -> Result<RotationProgress.Evidence, RotationProgress.Failure>

    /// Cancels our unfinished build and determines whether the new value is live.
    ///
    /// - Returns: Also the id of our deployment if `build` does not contain it.
    func survey(
        _ member: Int, _ build: RotationProgress.Build
    ) throws -> Result<(isLive: Bool, id: String?), RotationProgress.Failure>

    /// Makes the deployment that was live at the start live again, and waits for it.
    func restorePrevious(_ member: Int) throws -> RotationProgress.Failure?
}

package protocol RotationCommands {
    /// Runs the apply command with the new or the old value.
    func apply(_ side: RotationAction.Side) throws -> RotationProgress.Failure?
    /// Checks whether a deployment works with the value of `side`.
    func check(
        _ member: Int, deployment: String, _ side: RotationAction.Side
    ) throws -> RotationProgress.Failure?
    /// Revokes the old value.
    func revoke() throws -> RotationProgress.Failure?
}

/// Runs tasks concurrently while they wait for Vercel or for programs.
package protocol RotationWorkers: AnyObject {
    /// Calls `work` with each number below `count`, at most `limit` at a time. Only one runs at any
    /// moment; the others wait for I/O. Returns when all started calls have ended.
    ///
    /// - Parameter work: Returns false to prevent further calls from starting.
    func run(_ count: Int, limit: Int, _ work: @escaping (Int) -> Bool)
}

/// A clock that can wait.
package protocol RotationClock {
    /// Milliseconds since 1970.
    var now: UInt64 { get }
    /// Waits for `duration`, or returns false if the caller should give up, such as after an
    /// interrupt.
    func wait(_ duration: Duration) -> Bool
}

/// The user interrupted a rotation, which stays open.
package struct RotationInterrupted: Error {
    package init() {}
}
