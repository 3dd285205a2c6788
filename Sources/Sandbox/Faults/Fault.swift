/// A simulated fault of matching requests, as `POST /v*/projects/*/env 429:2 x1`.
package struct Fault: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        /// 429, with `Retry-After` if seconds are given.
        case rateLimited(seconds: Int?)
        case status(Int)
        /// An error with the test's own message.
        case says(status: Int, message: String)
        /// RST before anything is done.
        case reset
        /// The request is handled, but the connection closes without a response.
        case lostAnswer
        /// The request is handled, with a delayed response.
        case slow(seconds: Double)
        /// The request is handled, but only half of the response is sent.
        case truncate
        /// The request is handled, but the response arrives a byte at a time.
        case drip
        /// 403 that asks for another proof of identity.
        case challenge(Challenge)
        /// 403 of a team that requires a fresh single sign-on.
        case singleSignOn
        /// 200 with a page in place of JSON, as from captive portals.
        case html
        /// 307 to another URL.
        case redirect(String)
        /// 400 with this message, because another change of the project's variables is running.
        case ongoing(String)
        /// Every text of the response contains terminal control or text reordering characters.
        case escapes(Escapes)
        /// The request is handled, but the write goes wrong.
        case effect(Effect)
        /// A creation response that does not tell what was stored.
        case silentBatch(SilentBatch)
        /// A refusal that repeats a stored value.
        case echoesValue(ValueEcho)
        /// A change by another person before or after the request.
        case act(Act, Act.Moment)
    }

    /// Which texts of which responses have escapes.
    enum Escapes: Sendable, Equatable {
        /// The real response, except what clients depend on: ids, states, kinds, targets, names of
        /// variables and values.
        case texts
        /// Every text.
        case all
        /// An error with this status in place of the response.
        case status(Int)
    }

    /// Vercel's code for a request that needs another proof of identity.
    enum Challenge: String, Sendable, Equatable {
        case any = "challenge_required"
        case mail = "challenge_required_email_otp"
        /// The user must sign in again.
        case signIn = "user_auth_required"
    }

    /// How a handled request goes wrong silently.
    enum Effect: String, Sendable, Equatable, CaseIterable {
        /// Nothing is stored; the response looks right, with a new `updatedAt`.
        case storesNothing = "stores-nothing"
        /// Nothing is stored; the response has the old record with its old `updatedAt`.
        case returnsOldRecord = "returns-old-record"
        /// The value is stored empty; the response looks right.
        case storesEmpty = "stores-empty"
        /// One target is not stored; the response looks right.
        case dropsTarget = "drops-target"
        /// The record is stored as sensitive.
        case forcesSensitive = "forces-sensitive"
        /// The last item of the batch is refused, or a request for one item as a whole.
        case rejectsOne = "rejects-one"
        /// The next page's cursor is a string, not a number.
        case stringCursor = "string-cursor"
        /// A list requested with `decrypt=true` has clear values, as in some API versions.
        case decryptsLists = "decrypts-lists"
        /// Readable values are left out.
        case hidesValues = "hides-values"
        /// A followed log stays open without events after the build.
        case staysOpen = "stays-open"
    }

    /// The notation, with `value` and `comment` of an act masked.
    package private(set) var text: String
    /// The method, or `*`.
    let method: String
    /// A pattern for the path, with `*` for any text and `?` for one character.
    let pattern: [Character]
    let kind: Kind
    /// Matching requests that still pass before the fault applies.
    var passing = 0
    /// How often the fault still applies; `nil` means always.
    var remaining: Int?

    /// Parses `METHOD PATH-GLOB WHAT [@N] [xN]`.
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
        // An act happens once by default.
        remaining = remaining ?? 1
        self.text = "\(words[0]) \(words[1]) \(moment.rawValue):\(act.text)"
        if let first { self.text += " @\(first)" }
        self.text += " x\(remaining ?? 1)"
    }

    /// Returns whether the fault applies to a request; the pattern may omit the API version.
    func matches(method: String, path: String) -> Bool {
        guard remaining != 0, self.method == "*" || self.method == method else { return false }
        let path = Array(path)
        if Self.matches(pattern[...], path[...]) { return true }
        return VersionedPath.versionEnd(of: path).map { Self.matches(pattern[...], path[$0...]) }
            ?? false
    }

    /// Matches with a single backtracking point, in time at most the product of both lengths.
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
