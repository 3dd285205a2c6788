package import Vault

/// Where a rotation is kept: the vault.
package protocol RotationKeeper {
    /// Keeps the rotation as it stands, on the disk, before the step that it names is done.
    func keep(_ rotation: RotationEntry) throws

    /// Makes the value of a side the current one of a project's records. Done already is done.
    ///
    /// - Returns: Why it cannot be, such as that somebody else set another one meanwhile.
    func makeCurrent(
        _ side: RotationAction.Side, ofMember member: Int, _ rotation: RotationEntry
    ) throws -> RotationProgress.Failure?
}

/// What a deployment that is waited for has come to.
package enum RotationBuildState: Equatable, Sendable {
    case underWay
    case live
    /// Another one, of that id, was made since the beginning, serves, and holds the value too.
    case overtaken(by: String)
    /// It is built, and production's domains wait for a promotion.
    case staged(RotationProgress.Failure)
    case ended(RotationProgress.Failure)
}

/// What became of bringing values to the platform.
package enum RotationSending: Equatable, Sendable {
    /// It was done, and read back.
    case done
    /// Nothing was sent, since somebody else changed the variable there.
    case notSent(RotationProgress.Failure)
    /// It failed; something may have been sent.
    case failed(RotationProgress.Failure)
}

/// The platform, as a rotation uses it. Failures are results; what is thrown ends the command and leaves
/// the rotation open.
package protocol RotationPlatform: AnyObject {
    /// Brings the current values of a project's records to the platform and reads them back. What an
    /// earlier attempt may have done is looked up first.
    func push(_ member: Int) throws -> RotationSending

    /// Looks at what the platform's records of a project hold, without changing anything.
    func standing(_ member: Int) throws -> Result<RotationStanding, RotationProgress.Failure>

    /// Makes a deployment.
    ///
    /// - Parameter mayBeThere: An earlier attempt may have made it: it is looked for first.
    /// - Returns: Its id.
    func create(
        _ member: Int, _ build: RotationProgress.Build, _ side: RotationAction.Side,
        mayBeThere: Bool
    ) throws -> Result<String, RotationProgress.Failure>

    /// Looks at deployments once.
    ///
    /// - Parameters:
    ///   - builds: Each with its project.
    ///   - side: The value that they are to hold.
    /// - Returns: By project.
    func states(
        of builds: [(member: Int, build: RotationProgress.Build)], _ side: RotationAction.Side
    ) throws -> [Int: RotationBuildState]

    /// Promotes a deployment that is staged, and waits until it serves. Done already is done.
    func promote(
        _ member: Int, _ build: RotationProgress.Build
    ) throws -> RotationProgress.Failure?

    /// Reads the variables that a deployment was built with, and compares them with both values.
    func evidence(
        of deployment: String, _ member: Int
    ) throws -> Result<RotationProgress.Evidence, RotationProgress.Failure>

    /// Stops what is still being built of ours, and sees whether the new value serves.
    ///
    /// - Returns: Also the id of our deployment where `build` does not say it.
    func survey(
        _ member: Int, _ build: RotationProgress.Build
    ) throws -> Result<(isLive: Bool, id: String?), RotationProgress.Failure>

    /// Makes the deployment that served at the beginning current again, and waits for it.
    func restorePrevious(_ member: Int) throws -> RotationProgress.Failure?
}

/// The user's commands.
package protocol RotationCommands {
    /// Teaches a value: the new one, or the old one again.
    func apply(_ side: RotationAction.Side) throws -> RotationProgress.Failure?
    /// Checks a deployment, which is to work with the value of `side`.
    func check(
        _ member: Int, deployment: String, _ side: RotationAction.Side
    ) throws -> RotationProgress.Failure?
    /// Ends the old value.
    func revoke() throws -> RotationProgress.Failure?
}

/// Does several things at the same time, as far as they wait for the platform or for programs.
package protocol RotationWorkers: AnyObject {
    /// Calls `work` with each number below `count`, at most `limit` at a time, never two at once but
    /// where one waits; returns when all that were begun have ended.
    ///
    /// - Parameter work: False keeps those not yet begun from being begun.
    func run(_ count: Int, limit: Int, _ work: @escaping (Int) -> Bool)
}

/// Time, as a rotation uses it.
package protocol RotationClock {
    /// Milliseconds since 1970.
    var now: UInt64 { get }
    /// Waits.
    ///
    /// - Returns: False if the caller is to give up, such as after an interrupt.
    func wait(_ duration: Duration) -> Bool
}

/// Somebody asked a rotation to stop; it stays open.
package struct RotationInterrupted: Error {
    package init() {}
}
