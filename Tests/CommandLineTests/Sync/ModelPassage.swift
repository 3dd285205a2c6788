/// A short run of steps in which only one promise of docs/sync.md protects a value, or keeps a
/// report true. The seed selects its machine, keys, values and neighbors.
enum ModelPassage: String, Sendable, CaseIterable {
    // Vercel answers a change, and stored something else.

    /// A hidden value was not stored.
    case unkept
    /// The value was stored empty.
    case emptied
    /// A target was left out.
    case dropped
    /// A readable variable was made sensitive.
    case forced
    /// A push with an answer ends before it has read back.
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
    /// During a long earlier request of the same push.
    case slow
    /// Right before a change of scope or name, which sends no value.
    case narrowed
    /// Right after the write.
    case overtaken
    /// After the plan, to a variable that needed no change.
    case untouched
    /// A variable is removed and recreated right before a batch change.
    case remade

    // Somebody else has written before.

    /// A pull, with different values on both sides.
    case pulledOver
    /// A push of the same.
    case pushedOver
    /// A hidden value was changed on Vercel, and a pull has seen that.
    case undecided
    /// Vercel does not show a value that it should show.
    case hidden

    // A write without an answer.

    /// Somebody else changed the record since.
    case killedOther
    /// The same user did, long after.
    case killedLate
    /// The same user did, right after.
    case killedOwn
    /// Nobody did anything.
    case killedAlone
    /// The same for `harden`.
    case hardenedAgain
    /// The program keeps running, and somebody else was there.
    case unheardOther

    // Requests.

    /// The answer to a batch does not name all of them.
    case unnamed
    /// The same for changes.
    case unnamedChange
    /// A sensitive variable gets another name.
    case renamed
    /// A value and its scope change, beside another value.
    case rescoped

    // Rotations.

    /// The record is changed during the build, and the old value is to be revoked.
    case revoked
    /// Somebody changes the variable between the read and the first write.
    case rotatedLate
    /// The same user saves the record unchanged, and the rotation reverts.
    case touchedBack
    /// Somebody else changes other fields beside the new value, and the rotation reverts.
    case changedBack
}
