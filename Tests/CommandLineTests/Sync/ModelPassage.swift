/// A short run of steps that leads to where one promise of docs/sync.md is all that keeps a value, or that a
/// report is true. Its machine, keys, values and neighbours are drawn by the seed.
enum ModelPassage: String, Sendable, CaseIterable {
    // Vercel answers a change, and kept something else.

    /// A value that is not shown was not kept.
    case unkept
    /// The value was kept empty.
    case emptied
    /// A target was left out.
    case dropped
    /// A readable variable was made sensitive.
    case forced
    /// A push that was answered ends before it has looked again.
    case unproved

    // Somebody else writes during a push.

    /// Between the plan and the first write of a value.
    case movedChange
    /// Between the plan and a deletion.
    case movedRemoval
    /// While the question is open.
    case asked
    /// Before the second attempt of a change.
    case retried
    /// While an earlier request of the same push takes long.
    case slow
    /// Right before a change of scope or name, which sends no value.
    case narrowed
    /// Right after the write.
    case overtaken
    /// After the plan, of a variable that needed nothing.
    case untouched
    /// A variable is removed, and made again, right before several are changed at once.
    case remade

    // Somebody else has written before.

    /// A pull, where both sides have another value.
    case pulledOver
    /// A push of the same.
    case pushedOver
    /// A value that is not shown was changed there, and a pull has seen that.
    case undecided
    /// Vercel does not show a value that it should show.
    case hidden

    // A write whose answer was not heard.

    /// Somebody else changed the record since.
    case killedOther
    /// The same user did, long after.
    case killedLate
    /// The same user did, right after.
    case killedOwn
    /// Nobody did anything.
    case killedAlone
    /// The same of `harden`.
    case hardenedAgain
    /// The program lives on, and somebody else was there.
    case unheardOther

    // Requests.

    /// The answer to several does not name all of them.
    case unnamed
    /// The same where they were changed.
    case unnamedChange
    /// A sensitive variable gets another name.
    case renamed
    /// A value and its scope change, beside another value.
    case rescoped

    // Rotations.

    /// The record is changed while the deployment is built, and the old value is to be ended.
    case revoked
    /// Somebody changes the variable between the look and the first write.
    case rotatedLate
    /// The same user saves the record as it is, and the rotation goes back.
    case touchedBack
    /// Somebody else changes what stands beside the new value, and the rotation goes back.
    case changedBack
}
