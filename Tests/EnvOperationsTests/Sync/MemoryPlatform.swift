import Sealing
import Testing

@testable import EnvOperations
@testable import Vault
@testable import VercelAPI

/// A platform in memory, of one of two kinds, whose faults are chosen by the number of the write.
final class MemoryPlatform: SyncPlatform {
    enum Kind: CaseIterable, Sendable, CustomTestStringConvertible {
        /// As Vercel: several targets a record, readable values, batches.
        case shared
        /// One target a record, no readable value, times in whole seconds, names without case, one
        /// record a request.
        case separate

        var testDescription: String { self == .shared ? "shared" : "separate" }

        /// The targets of a record in the tests.
        var targets: Scope.Targets { self == .shared ? [.production, .preview] : .production }
    }

    struct Record: Equatable {
        let id: String
        var key: String
        var attributes: VariableAttributes
        var value: String
        var updatedAt: UInt64
        var author: String
    }

    /// What goes wrong with one write.
    enum Fault {
        /// The response is lost, and the write was carried out or not.
        case lost(isDone: Bool)
        /// The whole request is refused.
        case refused
        /// What is stored differs from what was sent.
        case storing((inout Record) -> Void)
        /// Reported as done without being done.
        case ignored
        /// The response does not have the records.
        case silent
    }

    /// A moment of a write, by its number from 1 on.
    enum Moment: Hashable {
        /// Before the sender's check.
        case checking(Int)
        /// After the check.
        case sending(Int)
        /// After the platform has carried it out, before the response.
        case answering(Int)
    }

    let kind: Kind
    private(set) var records: [Record] = []
    /// Each write, as what it does and the keys or ids of its records.
    private(set) var writes: [String] = []
    var faults: [Int: Fault] = [:]
    var events: [Moment: () -> Void] = [:]
    /// Called at each moment, after its event.
    var observer: ((Moment) -> Void)?
    /// The names that are always refused.
    var forbidden: Set<String> = []
    var clock: UInt64 = 100_000
    /// How much later each write is than what precedes it, in milliseconds.
    var pace: UInt64 = 1_000
    var pauseCount = 0
    /// How many production records the list leaves out.
    var hiddenCount = 0
    private var idCount = 0

    init(_ kind: Kind) { self.kind = kind }

    var traits: PlatformTraits {
        var traits = PlatformTraits()
        guard kind == .separate else {
            (traits.creationLimit, traits.changeLimit, traits.deletionLimit) = (3, 3, 3)
            return traits
        }
        (traits.showsValues, traits.showsEachChange) = (false, false)
        traits.namesIgnoreCase = true
        return traits
    }

    var elapsed: Duration { .milliseconds(clock) }
    var time: UInt64 { clock / 1_000 * 1_000 }

    // MARK: What others do

    func index(_ id: String) -> Int? { records.firstIndex { $0.id == id } }

    /// Adds a record.
    @discardableResult
    func add(
        _ key: String, _ targets: Scope.Targets, value: String,
        kind: VariableAttributes.Kind = .encrypted, comment: String? = nil, by author: String = "me"
    ) -> String {
        idCount += 1
        clock += pace
        records.append(
            Record(
                id: "r\(idCount)", key: name(key),
                attributes: .init(kind: kind, scope: Scope(targets: targets), comment: comment),
                value: value, updatedAt: clock, author: author))
        return "r\(idCount)"
    }

    /// Changes a record as another user does.
    func edit(_ id: String, _ change: (inout Record) -> Void = { _ in }) {
        guard let place = index(id) else { return }
        clock += pace
        change(&records[place])
        (records[place].updatedAt, records[place].author) = (clock, "other")
    }

    func remove(_ id: String) { records.removeAll { $0.id == id } }

    // MARK: The role

    func list() throws(PlatformError) -> ListedRecords {
        ListedRecords(records.map(listed), hiddenProduction: hiddenCount)
    }

    func create(_ new: [OutgoingRecord]) throws(PlatformError) -> WrittenRecords {
        try write("create", new.map(\.key), nil) { _, fault in
            self.answer(new.map { self.make($0, fault) })
        }
    }

    func change(
        _ outgoing: [OutgoingRecord], check: @escaping SendCheck
    ) throws(PlatformError) -> WrittenRecords {
        try write("change", outgoing.map(\.key), check) { number, fault in
            self.answer(outgoing.map { self.change($0, isOnly: outgoing.count == 1, fault) })
        }
    }

    func canChangeTogether(
        _ before: VercelRecord, _ request: (key: String, attributes: VariableAttributes),
        among planned: some Sequence<VercelRecord>
    ) -> Bool {
        kind == .shared && before.key == request.key
            && before.attributes.scope == request.attributes.scope
    }

    func delete(_ ids: [String], check: @escaping SendCheck) throws(PlatformError) {
        _ = try write("delete", ids, check) { _, fault in
            if case .ignored = fault { return WrittenRecords() }
            for id in ids { self.remove(id) }
            return WrittenRecords()
        }
    }

    func values(
        of records: [VercelRecord], into arena: SecretArena,
        isExpected: @escaping (Int, SecretSlice) -> Bool
    ) throws(PlatformError) -> [Result<SecretSlice?, PlatformError>] {
        #expect(records.isEmpty || kind == .shared)
        return records.map { record in
            guard let place = index(record.id),
                self.records[place].attributes.kind != .sensitive
            else { return .success(nil) }
            return .success(secret(self.records[place].value, in: arena))
        }
    }
}

extension MemoryPlatform {
    private typealias Written = Result<Record?, PlatformError>

    /// The name as the platform keeps it.
    private func name(_ key: String) -> String { kind == .shared ? key : key.uppercased() }

    /// Carries out one write with its fault and its events.
    private func write(
        _ verb: String, _ names: [String], _ check: SendCheck?,
        _ perform: (Int, Fault?) -> WrittenRecords
    ) throws(PlatformError) -> WrittenRecords {
        let number = writes.count + 1
        let limits = ["create": traits.creationLimit, "change": traits.changeLimit]
        #expect(names.count <= limits[verb] ?? traits.deletionLimit)
        reach(.checking(number))
        do throws(PlatformError) {
            try check?()
        } catch {
            var error = error
            error.isKnownNotDone = true
            throw error
        }
        writes.append("\(verb) \(names.joined(separator: " "))")
        reach(.sending(number))
        clock += pace
        let fault = faults[number]
        switch fault {
        case .refused:
            var error = PlatformError(.refused, "not accepted")
            error.isKnownNotDone = true
            throw error
        case .lost(isDone: false):
            reach(.answering(number))
            throw PlatformError(.outcomeUnknown, "no response")
        default: break
        }
        let written = perform(number, fault)
        reach(.answering(number))
        if case .lost = fault { throw PlatformError(.outcomeUnknown, "no response") }
        if case .silent = fault { return WrittenRecords() }
        return written
    }

    private func reach(_ moment: Moment) {
        events[moment]?()
        observer?(moment)
    }

    private func make(_ new: OutgoingRecord, _ fault: Fault?) -> (String, Written) {
        let scope = new.attributes.scope
        guard let value = new.value, kind == .shared || scope.targets.names.count == 1,
            !forbidden.contains(new.key)
        else { return (new.key, .failure(refusal(.refused))) }
        let isTaken = records.contains {
            $0.key == name(new.key) && $0.attributes.scope.overlaps(scope)
        }
        guard !isTaken else {
            var error = refusal(.conflict)
            error.isExisting = true
            return (new.key, .failure(error))
        }
        idCount += 1
        let record = Record(
            id: "r\(idCount)", key: name(new.key), attributes: new.attributes, value: text(value),
            updatedAt: clock, author: "me")
        if case .ignored = fault { return (new.key, .success(record)) }
        records.append(record)
        return (new.key, .success(stored(records.count - 1, fault)))
    }

    private func change(
        _ new: OutgoingRecord, isOnly: Bool, _ fault: Fault?
    ) -> (String, Written) {
        let place = records.firstIndex {
            isOnly
                ? $0.id == new.id
                : $0.key == name(new.key) && $0.attributes.scope == new.attributes.scope
        }
        guard let place, !forbidden.contains(new.key) else {
            return (new.key, .failure(refusal(place == nil ? .notFound : .refused)))
        }
        var record = records[place]
        (record.key, record.attributes) = (name(new.key), new.attributes)
        if let value = new.value { record.value = text(value) }
        (record.updatedAt, record.author) = (clock, "me")
        if case .ignored = fault { return (new.key, .success(record)) }
        records[place] = record
        return (new.key, .success(stored(place, fault)))
    }

    /// Returns a record as its response shows it, and stores it as the fault has it.
    private func stored(_ place: Int, _ fault: Fault?) -> Record {
        let record = records[place]
        if case .storing(let change) = fault { change(&records[place]) }
        return record
    }

    private func refusal(_ code: PlatformError.Code) -> PlatformError {
        var error = PlatformError(code, "not accepted")
        error.isKnownNotDone = true
        return error
    }

    private func answer(_ results: [(key: String, record: Written)]) -> WrittenRecords {
        var written = WrittenRecords()
        for (key, result) in results {
            switch result {
            case .success(let record): written.records += [record].compactMap(\.self).map(listed)
            case .failure(let error): written.refused.append((key, [], error))
            }
        }
        return written
    }

    /// Returns a record as the platform lists it.
    private func listed(_ record: Record) -> VercelRecord {
        let targets = record.attributes.scope.targets.names.map { "\"\($0)\"" }
        let comment = record.attributes.comment.map { "\"\($0)\"" } ?? "null"
        let time = kind == .shared ? record.updatedAt : record.updatedAt / 1_000 * 1_000
        let json = """
            {"id":"\(record.id)","key":"\(record.key)","type":"\(record.attributes.kind.name)",
            "target":[\(targets.joined(separator: ","))],"comment":\(comment),
            "updatedAt":\(time),"updatedBy":"\(record.author)"}
            """
        guard
            let variable = Array(json.utf8).withBytes({
                JSONDecoding.value(EnvironmentVariable.self, from: $0)
            })
        else { fatalError("not a record: \(json)") }
        return VercelRecord(variable, environments: CustomEnvironmentNames([]))
    }
}
