internal import HTTPClient
internal import JSON

/// The start of the next page. Vercel uses both numbers and strings.
struct PageCursor: Hashable, Decodable {
    let text: String

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let number = try? value.decode(Int64.self) {
            text = String(number)
        } else if let number = try? value.decode(Double.self), let whole = Int64(exactly: number) {
            text = String(whole)
        } else {
            text = try value.decode(String.self)
        }
    }
}

/// One page of a list: an array, an object with the array in a member, or a single element.
struct Page<Element: ListElement>: Decodable {
    let elements: [Element]
    let next: PageCursor?
    /// How many elements Vercel says that it left out.
    private(set) var hiddenCount = 0

    init(from decoder: any Decoder) throws {
        if let elements = try? [Element](from: decoder) {
            (self.elements, next) = (elements, nil)
            return
        }
        let object = try decoder.object()
        for name in Element.listNames where object.contains(name) {
            elements = try object.decode([Element].self, forKey: name)
            next = object.object("pagination")?.part("next")
            // A number that cannot be read must not pass as a complete list.
            if let name = Element.hiddenCountName, object.contains(name),
                try !object.decodeNil(forKey: name)
            {
                hiddenCount = try object.decode(Int.self, forKey: name)
                guard hiddenCount >= 0 else {
                    throw DecodingError.dataCorruptedError(
                        forKey: name, in: object, debugDescription: "a negative number")
                }
            }
            return
        }
        (elements, next) = ([try Element(from: decoder)], nil)
    }
}

/// An element of the API's lists.
protocol ListElement: Decodable {
    /// The members that may contain the list.
    static var listNames: [JSONKey] { get }
    /// The member with the number of elements that the list leaves out, if it has one.
    static var hiddenCountName: JSONKey? { get }
    /// Identifies an element that two pages repeat.
    var id: String { get }
}

extension ListElement {
    static var hiddenCountName: JSONKey? { nil }
}

/// Limits for lists, whatever Vercel returns.
enum Paging {
    /// The largest number of pages of one list.
    static let maximumPages = 1000
    /// The longest time for all pages of one list.
    static let maximumTime = Duration.seconds(300)
}

extension VercelClient {
    /// Reads a list to its end, or until it has `limit` elements.
    ///
    /// - Parameter cursor: The name of the query item for the cursor.
    /// - Throws: ``VercelAPIError/Code/malformedAnswer`` if a cursor repeats or there are more than
    ///   ``Paging/maximumPages`` pages; ``VercelAPIError/Code/unavailable`` after
    ///   ``Paging/maximumTime``.
    func list<Element: ListElement>(
        _ first: APICall, cursor: String, limit: Int = .max
    ) throws(VercelAPIError) -> [Element] {
        let begin = session.waitingRoom.elapsed
        let answer = try perform(first)
        return try list(
            continuing: answer, of: first, since: begin, cursor: cursor, limit: limit)
    }

    /// Reads the rest of a list after its first page.
    func list<Element: ListElement>(
        continuing first: APIResult, of call: APICall, since begin: Duration, cursor: String,
        limit: Int = .max
    ) throws(VercelAPIError) -> [Element] {
        var elements: [Element] = []
        var ids: Set<String> = []
        try forEachPage(continuing: first, of: call, since: begin, cursor: cursor) {
            (page: Page<Element>, _) throws(VercelAPIError) in
            // Cursors are times, so elements of the same moment may be on both pages.
            for element in page.elements where ids.insert(element.id).inserted {
                elements.append(element)
            }
            return elements.count < limit
        }
        return Array(elements.prefix(limit))
    }

    /// Reads the pages of a list from the first one.
    ///
    /// - Parameter use: Takes a page and its response, and returns whether it wants another one.
    func forEachPage<Element: ListElement>(
        continuing first: APIResult, of call: APICall, since begin: Duration, cursor: String,
        _ use: (Page<Element>, APIResult) throws(VercelAPIError) -> Bool
    ) throws(VercelAPIError) {
        var cursors: Set<PageCursor> = []
        var answer = first
        while true {
            let page = try read(answer, as: Page<Element>.self)
            guard try use(page, answer), let next = page.next else { return }
            guard cursors.insert(next).inserted, cursors.count < Paging.maximumPages else {
                throw VercelAPIError(
                    .malformedAnswer, reason: "the API returned a list without a last page")
            }
            answer = try perform(try nextPage(at: next, of: call, since: begin, cursor: cursor))
        }
    }

    /// Returns the call for a further page of a list that began at `begin`.
    ///
    /// - Throws: ``VercelAPIError/Code/unavailable`` if the list has no time left.
    func nextPage(
        at place: PageCursor, of call: APICall, since begin: Duration, cursor: String
    ) throws(VercelAPIError) -> APICall {
        let left = Paging.maximumTime - (session.waitingRoom.elapsed - begin)
        guard left > .zero else {
            throw VercelAPIError(
                .unavailable, reason: "reading a list took longer than 5 minutes",
                hint: "try again later")
        }
        var call = call
        call.query.removeAll { $0.name == cursor }
        call.query.append((cursor, place.text))
        call.deadline = begin + Paging.maximumTime
        return call
    }

    /// Decodes the response to a call.
    func read<T: Decodable>(
        _ answer: APIResult, as type: T.Type
    ) throws(VercelAPIError) -> T {
        let body = answer.response.body
        guard let value = body.withBytes({ JSONDecoding.value(type, from: $0) }) else {
            var error = VercelAPIError(
                .malformedAnswer, reason: "the API returned an unexpected response")
            error.status = answer.response.status
            throw error
        }
        return value
    }

    /// Scans a response for values.
    func scan<T>(
        _ answer: APIResult, _ body: (RawSpan) throws(JSONError) -> T
    ) throws(VercelAPIError) -> T {
        do throws(JSONError) {
            return try answer.response.body.withBytes(body)
        } catch {
            if case .outOfMemory = error {
                throw VercelAPIError(.outOfMemory, reason: "out of guarded memory")
            }
            throw VercelAPIError(
                .malformedAnswer, reason: "the API returned an unexpected response")
        }
    }
}
