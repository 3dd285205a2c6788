import EnvOperations
import Sandbox
import Vault

extension ModelGenerator {
    /// A variable that is the same on a machine and on Vercel.
    private struct Subject {
        let machine: Int
        let key: String
        let targets: [String]

        /// The words that select it in a dashboard action.
        var which: String { "key=\(key),targets=\(targets.joined(separator: "+"))" }
        /// The options that select it in a command.
        var place: [String] { ["-p", "web", "-t", targets.joined(separator: ",")] }

        /// The same without one target.
        var narrowed: Subject {
            Subject(machine: machine, key: key, targets: Array(targets.dropLast()))
        }
    }

    /// What a passage's variable may be.
    private enum Kind {
        case readable, sensitive, any
    }

    /// Names that random steps do not use.
    private static let freshKeys = [
        "ALPHA", "BRAVO", "CHARLIE", "DELTA", "ECHO", "FOXTROT", "GOLF", "HOTEL", "INDIA",
        "JULIET", "KILO", "LIMA", "MIKE", "NOVEMBER", "OSCAR", "PAPA",
    ]

    /// The steps of a passage.
    mutating func steps(
        of passage: ModelPassage, _ vaults: [ModelMachine.Contents]
    ) -> [ModelStep] {
        var stage = Stage(machine: number(in: 0...(vaults.count - 1)), vaults: vaults)
        switch passage {
        case .unkept, .emptied, .dropped, .forced, .unproved:
            altered(passage, &stage)
        case .movedChange, .movedRemoval, .asked, .retried, .slow: rivalled(passage, &stage)
        case .narrowed, .overtaken, .untouched, .remade: met(passage, &stage)
        case .pulledOver, .pushedOver, .undecided, .hidden: preceded(passage, &stage)
        case .killedOther, .killedLate, .killedOwn, .killedAlone, .hardenedAgain, .unheardOther:
            unheard(passage, &stage)
        case .unnamed, .unnamedChange, .renamed, .rescoped: requested(passage, &stage)
        case .revoked, .rotatedLate, .touchedBack, .changedBack: rotated(passage, &stage)
        }
        return stage.steps
    }

    // MARK: Variables

    /// The parts of a passage.
    private struct Stage {
        let machine: Int
        let vaults: [ModelMachine.Contents]
        var steps: [ModelStep] = []
        /// Keys that are already in use.
        var used: Set<String> = []

        mutating func run(
            _ words: [String], input: String? = nil, _ faults: [String] = [],
            kill: ModelCommand.Kill? = nil
        ) {
            var command = ModelCommand(machine: machine, words: words, input: input)
            command.faults = faults
            command.kill = kill
            steps.append(.command(command))
        }

        mutating func act(_ text: String) { steps.append(.act(text)) }

        /// A push of some keys, or of all.
        mutating func push(
            _ keys: [String], _ faults: [String] = [], kill: ModelCommand.Kill? = nil
        ) {
            run(["push"] + keys + ["-p", "web", "--yes", "--json"], faults, kill: kill)
        }
    }

    /// A variable in sync: an existing or a new one.
    private mutating func subject(
        _ kind: Kind, isWide: Bool = false, _ stage: inout Stage
    ) -> Subject {
        let vault = stage.vaults[stage.machine]
        let found = vault.records.filter { record in
            let (variable, scope) = (record.variable, record.variable.attributes.scope)
            let isSensitive = variable.attributes.kind == .sensitive
            return record.sync == .synced && variable.isLive && record.value != nil
                && !stage.used.contains(variable.name)
                && (kind == .any || (kind == .sensitive) == isSensitive)
                && !scope.targets.contains(.development)
                && (!isWide || scope.targets.names.count > 1)
                && vault.records.filter { $0.variable.name == variable.name }.count == 1
                && stored.filter { $0.key == variable.name }.count == 1
                && stored.contains {
                    $0.id == variable.remote?.id
                        && UInt64($0.updatedAt) == variable.remote?.agreedUpdatedAt
                }
        }.sorted { $0.name < $1.name }
        if chance(50), let record = pick(found) {
            stage.used.insert(record.variable.name)
            return Subject(
                machine: stage.machine, key: record.variable.name,
                targets: record.variable.attributes.scope.targets.names)
        }
        let key = freshKey(&stage)
        let targets =
            isWide
            ? Self.targets[2] : pick(Array(Self.targets.prefix(3)), or: Self.targets[0])
        let isSensitive = kind == .sensitive || kind == .any && chance(60)
        let subject = Subject(machine: stage.machine, key: key, targets: targets)
        stage.run(
            ["set", key] + subject.place + ["--raw"]
                + ["--type", isSensitive ? "sensitive" : "encrypted", "--push", "--yes", "--json"],
            input: value())
        return subject
    }

    /// A name that neither side has.
    private mutating func freshKey(_ stage: inout Stage) -> String {
        let taken = Set(stored.map(\.key)).union(stage.used)
            .union(stage.vaults.flatMap { $0.records.map(\.variable.name) })
        let key = Self.freshKeys.first { !taken.contains($0) } ?? "QUEBEC"
        stage.used.insert(key)
        return key
    }

    private mutating func set(_ subject: Subject, _ stage: inout Stage) {
        stage.run(["set", subject.key] + subject.place + ["--raw"], input: value())
    }

    private mutating func author() -> String { pick(["other", "self"], or: "other") }

    /// Somebody else's value.
    private mutating func rival(_ subject: Subject, by author: String? = nil) -> String {
        "set,\(subject.which),value=\(value()),by=\(author ?? self.author())"
    }

    /// Only this key, or everything.
    private mutating func meant(_ subjects: Subject...) -> [String] {
        chance(85) ? subjects.map(\.key) : []
    }

    // MARK: Wrong answers

    private mutating func altered(_ passage: ModelPassage, _ stage: inout Stage) {
        let isWide = passage == .dropped
        let kind: Kind =
            switch passage {
            case .unkept: .sensitive
            case .emptied, .forced: .readable
            default: .any
            }
        let subject = subject(kind, isWide: isWide, &stage)
        set(subject, &stage)
        var keys = meant(subject)
        if passage == .unkept, chance(30) {
            let other = self.subject(kind, &stage)
            set(other, &stage)
            if !keys.isEmpty { keys.append(other.key) }
        }
        let times = pick(["", " x1"], or: " x1")
        switch passage {
        case .unkept:
            // One is changed by itself, several together.
            let lie = pick(["stores-nothing", "returns-old-record"], or: "stores-nothing") + times
            stage.push(keys, ["PATCH */env/* \(lie)", "POST */env \(lie)"])
        case .emptied: stage.push(keys, ["PATCH */env/* stores-empty\(times)"])
        case .dropped: stage.push(keys, ["PATCH */env/* drops-target\(times)"])
        case .forced: stage.push(keys, ["PATCH */env/* forces-sensitive\(times)"])
        default:
            // The third listing is the one afterwards.
            stage.push(
                keys,
                ["GET */env 403 x1 @3"] + (chance(50) ? ["PATCH */env/* stores-nothing x1"] : []))
        }
    }

    // MARK: During a push

    private mutating func rivalled(_ passage: ModelPassage, _ stage: inout Stage) {
        let subject = subject(.any, &stage)
        let isRemoval = passage == .movedRemoval || passage == .retried && chance(30)
        if isRemoval {
            stage.run(["rm", subject.key, "-p", "web", "--all", "--yes"])
        } else {
            set(subject, &stage)
        }
        let request = isRemoval ? "DELETE */env*" : "PATCH */env/*"
        let act = rival(subject)
        switch passage {
        case .movedChange, .movedRemoval:
            // A neighbor that nobody else changes must wait too.
            if chance(40) {
                let other = self.subject(.any, &stage)
                set(other, &stage)
                stage.push(
                    meant(subject, other),
                    ["GET */env then:\(act)"])
            } else {
                stage.push(meant(subject), ["GET */env then:\(act)"])
            }
        case .asked:
            var command = ModelCommand(
                machine: stage.machine, words: ["push", subject.key, "-p", "web"])
            command.interlude = act
            stage.steps.append(.command(command))
        case .retried:
            let pause = pick(
                ["429:1 x1", "reset x1", "503 x1", "ongoing x1", "lost-answer x1"], or: "reset x1")
            let moment = pick(["before", "then"], or: "then")
            stage.push(meant(subject), ["\(request) \(moment):\(act)", "\(request) \(pause)"])
        default:
            // The change comes first, then the deletion.
            let other = self.subject(.any, &stage)
            stage.run(["rm", other.key, "-p", "web", "--all", "--yes"])
            let acts = chance(70) ? ["PATCH */env/* then:\(rival(other))"] : []
            stage.push(
                meant(subject, other),
                acts + ["PATCH */env/* slow:2.2 x1"])
        }
    }

    private mutating func met(_ passage: ModelPassage, _ stage: inout Stage) {
        switch passage {
        case .narrowed:
            let subject = subject(.readable, isWide: true, &stage)
            var key = subject.key
            if chance(70) {
                stage.run([
                    "rm", key, "-p", "web", "-t", subject.targets.last ?? "preview", "--yes",
                ])
            } else {
                key = freshKey(&stage)
                stage.run(["rename", subject.key, key, "-p", "web"])
            }
            stage.push([key], ["PATCH */env/* before:\(rival(subject))"])
        case .overtaken:
            let subject = subject(.any, &stage)
            set(subject, &stage)
            stage.push(meant(subject), ["PATCH */env/* then:\(rival(subject))"])
        case .untouched:
            let (subject, other) = (subject(.any, &stage), subject(.any, &stage))
            set(subject, &stage)
            let moment = pick(["before", "then"], or: "before")
            stage.push([], ["PATCH */env/* \(moment):\(rival(other))"])
        default:
            let (subject, other) = (subject(.any, &stage), subject(.any, &stage))
            set(subject, &stage)
            set(other, &stage)
            let by = author()
            var acts = ["POST */env before:remove,\(subject.which),by=\(by)"]
            if chance(40) {
                acts.append(
                    "POST */env before:create,\(subject.which),value=\(value()),type=\(pick(["sensitive", "encrypted"], or: "sensitive")),by=\(by)"
                )
            }
            stage.push([subject.key, other.key], acts)
        }
    }

    // MARK: Before a command

    private mutating func preceded(_ passage: ModelPassage, _ stage: inout Stage) {
        switch passage {
        case .pulledOver, .pushedOver:
            let subject = subject(passage == .pulledOver ? .readable : .any, &stage)
            let act = rival(subject)
            if chance(50) { stage.act(act) }
            set(subject, &stage)
            if stage.steps.allSatisfy({ if case .act = $0 { false } else { true } }) {
                stage.act(act)
            }
            if passage == .pushedOver {
                stage.push(meant(subject))
            } else {
                stage.run(["pull"] + meant(subject) + ["-p", "web", "--yes", "--json"])
            }
        case .undecided:
            let subject = subject(.sensitive, &stage)
            stage.act(rival(subject))
            stage.run(["pull", "-p", "web", "--yes", "--json"])
            stage.push(meant(subject))
        default:
            if chance(50) {
                let key = freshKey(&stage)
                stage.act(
                    "create,key=\(key),value=\(value()),targets=production+preview,type=encrypted,by=\(author())"
                )
            } else {
                stage.act(rival(subject(.readable, &stage)))
            }
            // A whole target may be requested instead of each value.
            stage.run(
                ["pull", "-p", "web", "--yes", "--json"],
                ["GET */env/pull/* 404", "GET */env/* hides-values"])
            if chance(50) { stage.run(["pull", "-p", "web", "--yes", "--json"]) }
        }
    }

    // MARK: Lost answers

    private mutating func unheard(_ passage: ModelPassage, _ stage: inout Stage) {
        let subject = subject(passage == .hardenedAgain ? .readable : .sensitive, &stage)
        let fates: [ModelCommand.Kill.EntryAction] =
            switch passage {
            case .killedOwn: [.lost]
            case .killedAlone, .hardenedAgain: [.unheard, .late]
            default: ModelCommand.Kill.EntryAction.allCases
            }
        let kill = ModelCommand.Kill(
            request: 1, countsWrites: true, fate: pick(fates, or: .unheard))
        let keys = meant(subject)
        if passage == .hardenedAgain {
            let words = ["harden", subject.key, "-p", "web", "--yes", "--json"]
            stage.run(words, kill: kill)
            stage.run(words)
            return
        }
        set(subject, &stage)
        if passage == .unheardOther {
            stage.push(
                keys,
                [
                    "PATCH */env/* lost-answer x1",
                    "PATCH */env/* then:\(rival(subject, by: "other"))",
                ])
            return
        }
        stage.push([subject.key], kill: kill)
        switch passage {
        case .killedOther: stage.act(rival(subject, by: "other"))
        case .killedLate:
            stage.steps.append(.clock(70))
            stage.act(rival(subject, by: "self"))
        case .killedOwn: stage.act(rival(subject, by: "self"))
        default: break
        }
        if chance(30) { stage.steps.append(.clock(2)) }
        stage.push(keys)
    }

    // MARK: Requests

    private mutating func requested(_ passage: ModelPassage, _ stage: inout Stage) {
        let silence = weighted(
            [
                (4, "silent-batch:some,keeps=all"), (1, "silent-batch:one,keeps=all"),
                (1, "silent-batch:empty,keeps=all"), (1, "silent-batch:some"),
            ], or: "silent-batch:some,keeps=all")
        switch passage {
        case .unnamed:
            let keys = (0..<number(in: 2...3)).map { _ in freshKey(&stage) }
            var words = ["import", "-", "-p", "web", "-t", "production,preview", "--yes"]
            if chance(70) { words += ["--type", "sensitive"] }
            stage.run(words, input: keys.map { "\($0)=\(value())\n" }.joined())
            stage.push(chance(70) ? keys : [], ["POST */env \(silence) x1"])
        case .unnamedChange:
            let subjects = [subject(.any, &stage), subject(.any, &stage)]
            for subject in subjects { set(subject, &stage) }
            stage.push(subjects.map(\.key), ["POST */env \(silence) x1"])
        case .renamed:
            let subject = subject(.sensitive, &stage)
            let key = freshKey(&stage)
            stage.run(["rename", subject.key, key, "-p", "web"])
            let lie = pick(["stores-nothing x1", "stores-nothing"], or: "stores-nothing x1")
            stage.push(chance(70) ? [key] : [], ["POST */env \(lie)"])
        default:
            let (subject, other) = (
                subject(.readable, isWide: true, &stage), subject(.any, &stage)
            )
            stage.run([
                "rm", subject.key, "-p", "web", "-t", subject.targets.last ?? "preview", "--yes",
            ])
            set(subject.narrowed, &stage)
            set(other, &stage)
            stage.push(meant(subject, other))
        }
    }

    // MARK: Rotations

    private mutating func rotated(_ passage: ModelPassage, _ stage: inout Stage) {
        let subject = subject(
            [.touchedBack, .changedBack].contains(passage) ? .sensitive : .any, &stage)
        var words = ["rotate", subject.key, "-p", "web", "--raw", "--yes", "--json"]
        words += ["--timeout", "4s"]
        let new = value()
        switch passage {
        case .revoked:
            words += ["--redeploy", "--check", "true", "--revoke", "cat >revoked"]
            stage.run(words, input: new, ["POST */deployments then:\(rival(subject))"])
        case .rotatedLate:
            if chance(50) { words.append("--redeploy") }
            stage.run(
                words, input: new, ["GET */env then:\(rival(subject))", "GET */env slow:2.2 x1"])
        default:
            let places = pick(
                Self.targets.prefix(3).filter { $0 != subject.targets }, or: Self.targets[0])
            let beside = pick(
                ["newTargets=\(places.joined(separator: "+"))", "comment=theirs"],
                or: "comment=theirs")
            let deed =
                passage == .touchedBack
                ? "touch,\(subject.which),by=self" : "set,\(subject.which),\(beside),by=other"
            var command = ModelCommand(
                machine: stage.machine, words: words + ["--redeploy"], input: new)
            command.faults = ["POST */deployments then:\(deed)"]
            command.build = pick(["fail", "fail", "blocked"], or: "fail")
            stage.steps.append(.command(command))
        }
        if passage != .rotatedLate, chance(60) {
            stage.run(
                ["rotate", pick(["--abort", "--resume"], or: "--abort"), "--yes", "--json"])
        }
    }
}
