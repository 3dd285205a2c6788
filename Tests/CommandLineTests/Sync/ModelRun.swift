import EnvOperations
import Foundation
internal import JSON
import Sandbox
import TestSupport
import Vault

/// A command that was run, and everything that can be known of it from outside.
struct ModelRun {
    let command: ModelCommand
    let result: ProgramResult
    /// Whether the model killed it.
    let isKilled: Bool
    /// Its requests, with what Vercel had around each.
    let moments: [Onlooker.Moment]
    /// The method and path of the request at which it was killed, and which was never served.
    let lost: (method: String, path: String)?
    /// What Vercel had before and after.
    let storedBefore: [StoredVariable]
    let storedAfter: [StoredVariable]
    /// What the vault held before and after.
    let before: ModelMachine.Contents
    let after: ModelMachine.Contents

    /// When somebody did something while its question was open.
    let interludeAt: ContinuousClock.Instant?
    /// What production was built with, after a rotation.
    let built: [String: String]?

    /// Whether the command that ends the old value ran.
    let hasRevoked: Bool

    /// Its exit code; nil where a signal ended it.
    var status: Int32? { result.status }
    /// The report on stdout.
    var report: JSONDocument? { try? JSONDocument(result.standardOutput) }
    /// Everything that it printed.
    var words: String { result.output + result.error + result.screen }

    /// Its requests for people: how each was answered, and what struck it.
    var requests: [String] {
        moments.map { moment in
            let path = moment.request.path.split(separator: "?").first ?? ""
            return
                "\(moment.request.method) \(path) \(moment.request.status)\(moment.fault.map { " (\($0))" } ?? "")"
        }
    }

    /// How it ended, in a word.
    var end: String {
        isKilled
            ? "killed" : result.timedOut ? "too long" : status.map { "\($0)" } ?? "\(result.end)"
    }

    /// The ids and keys that a write may have named which was never served: the id in its path, else all that was
    /// to be sent.
    var lostNames: Set<String>? {
        guard let lost, lost.method != "GET" else { return nil }
        let parts = lost.path.split(separator: "/").dropFirst().map(String.init)
        guard parts.count >= 3, parts[0] == "projects", parts[2] == "env" else { return nil }
        if parts.count == 4 { return [parts[3]] }
        return after.records.reduce(into: []) { names, record in
            guard record.sync != .synced else { return }
            names.formUnion([record.variable.name, record.variable.remote?.id ?? ""])
        }
    }

    // MARK: Times

    /// A time during the command: four for each request.
    typealias Time = Int

    /// What Vercel had at a time.
    func stored(at time: Time) -> [StoredVariable] {
        guard moments.indices.contains(time / 4) else {
            return time < 0 ? storedBefore : storedAfter
        }
        let moment = moments[time / 4]
        return switch time % 4 {
        case 0: moment.before
        case 1: moment.asked
        case 2: moment.served
        default: moment.after
        }
    }

    /// When a record came to be as it is; -1 for before the command.
    func beginning(of record: StoredVariable) -> Time {
        if storedBefore.contains(record) { return -1 }
        return (0..<(moments.count * 4)).first { stored(at: $0).contains(record) }
            ?? moments.count * 4
    }

    /// The last listing before a request that this command has heard, by its place among the requests.
    func listing(before place: Int) -> Int? {
        moments.indices.prefix(place).last { moments[$0].isListing && isHeard($0) }
    }

    /// The first listing that this command has heard.
    var firstListing: Int? { moments.indices.first { moments[$0].isListing && isHeard($0) } }
    /// The last one.
    var lastListing: Int? { listing(before: moments.count) }

    /// Tells whether the answer of a request arrived, and was one.
    func isHeard(_ place: Int) -> Bool {
        // One that was lost is not among them.
        let isKiller =
            isKilled && command.kill?.fate != .lost && place == moments.count - 1
        return moments[place].isAnswered && !isKiller
    }
}

extension Onlooker.Moment {
    /// The words for what struck it, without acts.
    private var faults: [String] {
        (fault?.components(separatedBy: ", ") ?? []).compactMap { text in
            let words = text.split(separator: " ")
            return words.count > 2 ? words[2].split(separator: ":").first.map(String.init) : nil
        }.filter { !["before", "then"].contains($0) }
    }

    /// The parts of the path behind the version.
    private var parts: [String] {
        let path = request.path.split(separator: "?").first ?? ""
        return path.split(separator: "/").dropFirst().map(String.init)
    }

    /// Tells whether it lists a project's variables.
    var isListing: Bool {
        request.method == "GET" && parts.count == 3 && parts[0] == "projects" && parts[2] == "env"
    }

    /// Tells whether it may change a project's variables.
    var isWrite: Bool {
        request.method != "GET" && parts.count >= 3 && parts[0] == "projects" && parts[2] == "env"
    }

    /// Tells whether it changes or deletes what is there: a creation alone does neither.
    var isChange: Bool {
        isWrite && (request.method != "POST" || request.path.contains("upsert=true"))
    }

    /// Tells whether it is about variables.
    var isAboutVariables: Bool { parts.contains("env") }

    /// Vercel's id of the only record that it is about.
    var recordID: String? { parts.count == 4 ? parts[3] : nil }

    /// The ids and keys that it names.
    var names: Set<String> {
        var names = Set([recordID].compactMap { $0 })
        let items = request.body?.array ?? [request.body].compactMap { $0 }
        for item in items {
            if let key = item["key"]?.string { names.insert(key) }
            for id in item["ids"]?.array ?? [] { names.formUnion([id.string].compactMap { $0 }) }
        }
        return names
    }

    /// Tells whether it asks for deployments.
    var asksForDeployment: Bool { request.method == "GET" && parts.first == "deployments" }

    /// Tells whether its answer was whole, and what it said was so when it was asked.
    var isAnswered: Bool {
        (200..<300).contains(request.status)
            && faults.allSatisfy { word in
                !["lost-answer", "truncate", "html"].contains(word) && Int(word) == nil
            } && !(fault?.contains("escapes:all") ?? false)
    }

    /// Tells whether zg-env waits before it asks again.
    var makesWait: Bool {
        let status = request.status
        return status == 0 || status == 408 || status == 429 || status >= 500
            || !Set(faults).isDisjoint(with: ["lost-answer", "truncate", "ongoing"])
    }
}
