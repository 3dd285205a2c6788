package import Vault
package import VercelAPI

/// What became of one step of a push, after it was read back.
package struct PushOutcome {
    /// How it ended.
    package enum End {
        /// Done and seen on the platform.
        case verified
        /// Sent; the platform does not show what it holds.
        case unverified(String)
        /// Somebody else changed the record after the plan was made: nothing of the step was sent, or
        /// what was sent is not what the platform has now. The reason says which.
        case conflict(String)
        /// Not done, or not as it should be.
        case failed(String, VercelAPIError?)
    }

    /// The step.
    package let step: PushPlan.Step
    /// How it ended.
    package var end: End
    /// The platform's record as it answered, or as it was found; nil where there is none or it was not
    /// seen.
    package var record: PlatformRecord?
    /// Tells that the platform never said that it kept the record: it was found there afterwards.
    var isPresumed = false
    /// Tells that something of the step may have been carried out.
    package var isSent = true
    /// What ends it where it is a conflict.
    package internal(set) var way = RecordNote.Way.either
}

/// What the vault has to keep of a push: told after each request that changed the platform.
package struct PushRecord {
    /// What is known of the platform's record.
    enum Knowledge {
        /// There is none any more.
        case gone
        /// The platform accepted what was sent, which is not read back yet; it had the other record right
        /// before; nil where that is not known.
        case sent(PlatformRecord, withValue: Bool, inPlaceOf: PlatformRecord?)
        /// What both sides have: the version, 0 where the platform holds something else and nil where
        /// none was sent, and type, scope and comment.
        case agreed(PlatformRecord, version: UInt64?, attributes: VariableAttributes)
        /// The record as the platform lists it now, which both sides have not agreed on; nil where it is gone.
        case seen(PlatformRecord?)
    }

    /// The vault's record.
    let variable: Identifier
    /// What is known.
    let knowledge: Knowledge
}

/// What the vault has to keep at one moment of a push.
package struct PushNote {
    /// What is known of the platform's records.
    package var records: [PushRecord] = []
    /// Writes that go out as soon as this is kept.
    package var begun: [SendEntry] = []
    /// Writes whose answer is in ``records``, or that were never done.
    package var ended: [Identifier] = []
    /// Records for production that are gone from the platform, and that the vault had no record of.
    var departed: [PlatformRecord] = []

    /// Notes nothing, or that these writes ended.
    package init(ended: [Identifier] = []) { self.ended = ended }

    /// Tells whether there is nothing to keep.
    var isEmpty: Bool { records.isEmpty && begun.isEmpty && ended.isEmpty && departed.isEmpty }
}
