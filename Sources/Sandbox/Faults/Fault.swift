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
        /// Every text of the answer carries what steers a terminal or reorders what it shows.
        case escapes(Escapes)
        /// The request is served, but the write goes wrong.
        case effect(Effect)
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
    enum Effect: String, Sendable, Equatable {
        /// The value is stored empty; the answer looks right.
        case storesEmpty = "stores-empty"
        /// One target is not stored; the answer looks right.
        case dropsTarget = "drops-target"
        /// The record is stored as sensitive.
        case forcesSensitive = "forces-sensitive"
        /// One item of the batch is refused.
        case rejectsOne = "rejects-one"
        /// The next page is named by a text instead of a number.
        case stringCursor = "string-cursor"
        /// A list that is asked for with `decrypt=true` has clear values, as some versions had.
        case decryptsLists = "decrypts-lists"
        /// A log that is followed stays open, with nothing in it, when its build has ended.
        case staysOpen = "stays-open"
    }

    /// The text it was made from.
    package let text: String
    /// The method, or `*`.
    let method: String
    /// A pattern for the path, with `*` for anything and `?` for one character.
    let pattern: [Character]
    let kind: Kind
    /// How often it still strikes; `nil` means always.
    var remaining: Int?

    /// Reads `METHOD PATH-GLOB WHAT [xN]`; `nil` when it is anything else.
    package init?(_ text: String) {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard words.count == 3 || words.count == 4, let kind = Self.kind(words[2]),
            words[0] == "*" || words[0].allSatisfy({ $0.isASCII && $0.isLetter }),
            words[1].hasPrefix("/") || words[1].hasPrefix("*")
        else { return nil }
        if words.count == 4 {
            guard words[3].hasPrefix("x"), let count = Int(words[3].dropFirst()), count > 0
            else { return nil }
            remaining = count
        }
        self.text = words.joined(separator: " ")
        method = words[0].uppercased()
        pattern = Array(words[1])
        self.kind = kind
    }

    private static func kind(_ word: String) -> Kind? {
        let parts = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let argument = parts.count > 1 ? String(parts[1]) : nil
        switch (String(parts[0]), argument) {
        case ("429", nil): return .rateLimited(seconds: nil)
        case ("429", let seconds?):
            guard let seconds = Int(seconds), (0...86400).contains(seconds) else { return nil }
            return .rateLimited(seconds: seconds)
        case ("slow", let seconds?): return Seconds.value(of: seconds).map(Kind.slow)
        case ("redirect", let address?): return .redirect(address)
        case ("says", let argument?):
            let words = argument.split(separator: ":", maxSplits: 1)
            guard words.count == 2, let status = Int(words[0]), (400...599).contains(status)
            else { return nil }
            return .says(status: status, message: String(words[1]))
        case ("escapes", nil): return .escapes(.texts)
        case ("escapes", "all"?): return .escapes(.all)
        case ("escapes", let status?):
            guard let status = Int(status), (400...599).contains(status) else { return nil }
            return .escapes(.status(status))
        case ("reset", nil): return .reset
        case ("lost-answer", nil): return .lostAnswer
        case ("truncate", nil): return .truncate
        case ("challenge", nil): return .challenge
        case ("saml", nil): return .singleSignOn
        case ("html", nil): return .html
        case (let name, nil):
            if let effect = Effect(rawValue: name) { return .effect(effect) }
            guard let status = Int(name), (200...599).contains(status) else { return nil }
            return .status(status)
        default: return nil
        }
    }

    /// True for a request that it strikes; the version in front of a path may be left out.
    func matches(method: String, path: String) -> Bool {
        guard remaining != 0, self.method == "*" || self.method == method else { return false }
        let path = Array(path)
        if Self.matches(pattern[...], path[...]) { return true }
        return Router.versionEnd(of: path).map { Self.matches(pattern[...], path[$0...]) } ?? false
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
