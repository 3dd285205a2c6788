package import Vault

/// The outcome of one request, after it was read back.
package struct RequestOutcome {
    package enum End {
        /// Done and verified on Vercel.
        case verified
        /// Sent, but Vercel does not show the value.
        case unverified(String)
        /// Another user changed the record after the plan was made: either nothing was sent, or
        /// Vercel has something other than what was sent. The reason says which.
        case conflict(String)
        /// Not done, or not as intended.
        case failed(String, PlatformError?)
    }

    package let request: SyncRequest
    package var end: End
    /// Vercel's record in the response or found later; nil if it does not exist or was not seen.
    package var record: VercelRecord?
    /// Whether the record was only found afterwards, without a confirmation by Vercel.
    var isPresumed = false
    /// Whether part of the step may have been carried out.
    package var isSent = true
    /// How to resolve it, for a conflict.
    package internal(set) var way = RecordNote.Way.either
}

/// What the vault has to record about one variable, or one of Vercel's records.
package struct RecordUpdate {
    /// What is known about Vercel's record.
    enum Knowledge {
        /// It is gone, by its id.
        case gone(String)
        /// It no longer applies there, by its id.
        case released(String, from: Scope)
        /// Vercel accepted what was sent, which is not read back yet. `inPlaceOf` is the record
        /// right before, or nil if unknown.
        case sent(VercelRecord, withValue: Bool, inPlaceOf: VercelRecord?)
        /// What both sides have: the version (0 if Vercel has something else, nil if none was
        /// sent), and type, scope and comment.
        case agreed(VercelRecord, version: UInt64?, attributes: VariableAttributes)
        /// What listing and journal show to be agreed on, for part of the record.
        case matched(VercelRecord, version: UInt64, attributes: VariableAttributes)
        /// Vercel's current record, on which both sides have not agreed; nil if it is gone.
        case seen(VercelRecord?)
    }

    /// The vault's record; nil for whichever has that record of Vercel's.
    let variable: Identifier?
    let knowledge: Knowledge
}

/// What the vault has to record with the next journal entry.
package struct SendNote {
    /// What is known about Vercel's records.
    package var records: [RecordUpdate] = []
    /// Writes that are sent as soon as this is saved.
    package var begun: [SendEntry] = []
    /// Writes whose result is in ``records``, or that were never carried out.
    package var ended: [Identifier] = []
    /// Production records that are gone from Vercel and had no record in the vault.
    var departed: [VercelRecord] = []

    package init(ended: [Identifier] = []) { self.ended = ended }

    /// Whether there is nothing to save.
    var isEmpty: Bool { records.isEmpty && begun.isEmpty && ended.isEmpty && departed.isEmpty }
}
