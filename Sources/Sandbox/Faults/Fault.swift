/// Something that goes wrong with matching requests, as `POST /v*/projects/*/env 429:2 x1`.
package struct Fault: Sendable, Equatable {
    /// What goes wrong.
    enum Kind: Sendable, Equatable {
        /// 429, with `Retry-After` if a number of seconds is given.
        case rateLimited(seconds: Int?)
        case status(Int)
        /// An error with words of the test's.
        case says(status: Int, message: String)
        /// RST before anything is done.
        case reset
        /// Done, but the connection ends without an answer.
        case lostAnswer
        /// Done, and answered so much later.
        case slow(seconds: Double)
        /// Done, and half of the answer comes.
        case truncate
        /// 403 that asks for another proof of identity.
        case challenge
        /// 403 of a team that wants a fresh single sign-on.
        case singleSignOn
        /// 200 with a page instead of JSON, as captive portals send.
        case html
        /// 307 to another address.
        case redirect(String)
        /// 400, since another change of the project's variables is under way, in this wording.
        case ongoing(String)
        /// Every text of the answer carries what steers a terminal or reorders what it shows.
        case escapes(Escapes)
        /// The request is served, but the write goes wrong.
        case effect(Effect)
        /// A creation whose answer does not say what was kept.
        case silentBatch(SilentBatch)
        /// A refusal that repeats a stored value.
        case echoesValue(ValueEcho)
        /// Somebody does something before the request is served, or after it.
        case act(Act, Act.Moment)
    }

    /// Which answers have escapes, and where.
    enum Escapes: Sendable, Equatable {
        /// The answer to the request that was served, but for what clients go on with: ids, states, kinds,
        /// targets, names of variables and values.
        case texts
        /// Everything that is a text.
        case all
        /// An error of this status in place of the answer.
        case status(Int)
    }

    /// How a served request goes wrong without saying so.
    enum Effect: String, Sendable, Equatable, CaseIterable {
        /// Nothing is stored; the answer looks right, a new `updatedAt` included.
        case storesNothing = "stores-nothing"
        /// Nothing is stored; the answer shows the record as it was, with its old `updatedAt`.
        case returnsOldRecord = "returns-old-record"
        /// The value is stored empty; the answer looks right.
        case storesEmpty = "stores-empty"
        /// One target is not stored; the answer looks right.
        case dropsTarget = "drops-target"
        /// The record is stored as sensitive.
        case forcesSensitive = "forces-sensitive"
        /// The last item of the batch is refused; a request for one thing is refused as a whole.
        case rejectsOne = "rejects-one"
        /// The next page is named by a text instead of a number.
        case stringCursor = "string-cursor"
        /// A list that is asked for with `decrypt=true` has clear values, as some versions had.
        case decryptsLists = "decrypts-lists"
        /// Values that could be read are left out.
        case hidesValues = "hides-values"
        /// A log that is followed stays open, with nothing in it, when its build has ended.
        case staysOpen = "stays-open"
    }

    /// The text it was made from; what stands behind `value` and `comment` of an act is masked.
    package private(set) var text: String
    /// The method, or `*`.
    let method: String
    /// A pattern for the path, with `*` for anything and `?` for one character.
    let pattern: [Character]
    let kind: Kind
    /// How many matching requests it still lets pass before it strikes for the first time.
    var passing = 0
    /// How often it still strikes; `nil` means always.
    var remaining: Int?

    /// Reads `METHOD PATH-GLOB WHAT [@N] [xN]`; `nil` when it is anything else.
    package init?(_ text: String) {
        var words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        self.text = words.joined(separator: " ")
        var first: Int?
        while words.count > 3, let word = words.last, word.hasPrefix("x") || word.hasPrefix("@"),
            let count = Int(word.dropFirst()), count > 0
        {
            guard word.hasPrefix("x") ? remaining == nil : first == nil else { return nil }
            if word.hasPrefix("x") { remaining = count } else { first = count }
            words.removeLast()
        }
        passing = (first ?? 1) - 1
        guard words.count >= 3, let kind = Kind(words[2...].joined(separator: " ")),
            words[0] == "*" || words[0].allSatisfy({ $0.isASCII && $0.isLetter }),
            words[1].hasPrefix("/") || words[1].hasPrefix("*")
        else { return nil }
        method = words[0].uppercased()
        pattern = Array(words[1])
        self.kind = kind
        guard case .act(let act, let moment) = kind else { return }
        // Who does something at the dashboard does it once, unless it is said how often.
        remaining = remaining ?? 1
        self.text = "\(words[0]) \(words[1]) \(moment.rawValue):\(act.text)"
        if let first { self.text += " @\(first)" }
        self.text += " x\(remaining ?? 1)"
    }

    /// True for a request that it strikes; the version in front of a path may be left out.
    func matches(method: String, path: String) -> Bool {
        guard remaining != 0, self.method == "*" || self.method == method else { return false }
        let path = Array(path)
        if Self.matches(pattern[...], path[...]) { return true }
        return VersionedPath.versionEnd(of: path).map { Self.matches(pattern[...], path[$0...]) }
            ?? false
    }

    /// Matches with one point to go back to, so that no pattern takes longer than the product of
    /// both lengths.
    private static func matches(_ pattern: ArraySlice<Character>, _ path: ArraySlice<Character>)
        -> Bool
    {
        var (at, place) = (pattern.startIndex, path.startIndex)
        var star: (pattern: Int, path: Int)?
        while place < path.endIndex {
            if at < pattern.endIndex, pattern[at] == "*" {
                star = (at, place)
                at += 1
            } else if at < pattern.endIndex, pattern[at] == "?" || pattern[at] == path[place] {
                at += 1
                place += 1
            } else if let last = star {
                star = (last.pattern, last.path + 1)
                at = last.pattern + 1
                place = last.path + 1
            } else {
                return false
            }
        }
        return pattern[at...].allSatisfy { $0 == "*" }
    }
}
