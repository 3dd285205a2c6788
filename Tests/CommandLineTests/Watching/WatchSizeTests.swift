import CommandLineKit
import Foundation
import Testing

@testable import ZGEnvCommands

/// Every screen as text at three sizes, in `Screens/COLUMNSxROWS/NAME.txt`.
/// `RECORD_SNAPSHOTS=1` writes them, and fails.
@Suite("The screen at three sizes")
struct WatchSizeTests {
    private static let sizes = [(40, 12), (80, 24), (132, 40)]

    /// The pages, questions and states of the screen, by name.
    static var screens: [(name: String, model: WatchModel)] {
        let start = WatchExample.model
        func changed(_ change: (inout WatchModel) -> Void) -> WatchModel {
            var model = start
            change(&model)
            return model
        }
        func typed(_ text: String, _ model: inout WatchModel) {
            for character in text {
                _ = model.take(
                    character == "\r" ? .enter : character == "\t" ? .tab : .character(character),
                    rows: 24)
            }
        }
        return [
            ("projects", start),
            ("projects-filter", changed { typed("/sh", &$0) }),
            ("projects-help", changed { typed("?", &$0) }),
            (
                "projects-unreachable",
                changed {
                    $0.trouble =
                        "Cannot connect to the API. Showing the last known state; retrying."
                }
            ),
            (
                "no-vault",
                changed {
                    $0.projects = []
                    $0.askedAt = nil
                    $0.advice = "There is no vault yet. Create one with: zg-env init"
                }
            ),
            (
                "no-login",
                changed {
                    $0.projects = []
                    $0.askedAt = nil
                    $0.trouble = "Not logged in to Vercel."
                    $0.advice = "Log in with: zg-env login"
                }
            ),
            ("variables", changed { $0.open("prj_web", .variables) }),
            (
                "variables-last",
                changed {
                    $0.open("prj_web", .variables)
                    typed("G", &$0)
                }
            ),
            (
                "variables-help",
                changed {
                    $0.open("prj_web", .variables)
                    typed("?", &$0)
                }
            ),
            (
                "variables-new",
                changed {
                    $0.open("prj_web", .variables)
                    typed("nAPI_KEY", &$0)
                }
            ),
            (
                "variables-none",
                changed {
                    $0.projects[2].variables = []
                    $0.open("prj_web", .variables)
                }
            ),
            (
                "variables-unused-key",
                changed {
                    $0.open("prj_web", .variables)
                    typed("z", &$0)
                }
            ),
            ("variables-not-in-vault", changed { $0.open("prj_docs", .variables) }),
            ("deployments", changed { typed("\r", &$0) }),
            ("deployments-help", changed { typed("\r?", &$0) }),
            (
                "deployments-pinned",
                changed {
                    $0.projects[2].rows[0] = WatchExample.row(
                        "dpl_W2", "READY", minutesAgo: 1, message: "Show prices with tax")
                    typed("\r", &$0)
                }
            ),
            (
                "deployments-none",
                changed {
                    $0.projects[2].rows = []
                    $0.open("prj_web", .deployments)
                }
            ),
            (
                "question",
                changed {
                    $0.question = .init(
                        plan: ["redeploy dpl_W2 of web for production"],
                        question: "Redeploy this deployment?")
                }
            ),
            (
                "working",
                changed {
                    typed("\r", &$0)
                    $0.work = "Running redeploy…"
                }
            ),
            (
                "log",
                changed {
                    typed("l", &$0)
                    $0.log = [
                        .init(text: "09:59:05 # Running build in iad1", role: .heading),
                        .init(text: "09:59:21 ~ warning: 1 package is deprecated", role: .warning),
                        .init(text: "09:59:30 ! Error: Cannot find module 'next'", role: .bad),
                    ]
                    $0.hasLogEnded = true
                }
            ),
            (
                "history",
                changed {
                    $0.open("prj_web", .variables)
                    $0.show(
                        [
                            "VERSION  CREATED     TARGETS",
                            "      2  5 min ago   production  current",
                            "      1  3 days ago  production",
                        ], title: "history", project: "prj_web")
                }
            ),
            ("value", changed { $0.shownValue = "DATABASE_URL" }),
        ]
    }

    private static func lines(_ name: String, _ model: WatchModel, _ columns: Int, _ rows: Int)
        -> [String]
    {
        let screen = WatchScreen(
            model: model, size: .init(columns: columns, rows: rows), now: WatchExample.now,
            style: .plain)
        let lines = name == "value" ? screen.valueLines(isWhole: true) : screen.lines()
        return lines.map { $0.replacing(/\ +$/, with: "") }
    }

    @Test func `each screen is as recorded`() throws {
        let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Screens")
        let records = ProcessInfo.processInfo.environment["RECORD_SNAPSHOTS"] == "1"
        var names: Set<String> = []
        for (columns, rows) in Self.sizes {
            for (name, model) in Self.screens {
                let text = Self.lines(name, model, columns, rows).joined(separator: "\n") + "\n"
                let file = directory.appendingPathComponent("\(columns)x\(rows)/\(name).txt")
                names.insert("\(columns)x\(rows)/\(name).txt")
                if records {
                    try FileManager.default.createDirectory(
                        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                    try text.write(to: file, atomically: true, encoding: .utf8)
                } else {
                    let wanted = try String(contentsOf: file, encoding: .utf8)
                    #expect(text == wanted, "\(columns)x\(rows) \(name)")
                }
            }
        }
        if records { Issue.record("The screens were rewritten.") }
        let kept = try FileManager.default.subpathsOfDirectory(atPath: directory.path)
            .filter { $0.hasSuffix(".txt") }
        #expect(Set(kept) == names)
    }
}
