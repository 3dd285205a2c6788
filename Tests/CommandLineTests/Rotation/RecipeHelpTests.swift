import Foundation
import TestSupport
import Testing

/// Where `rotate --help` says that the recipes are.
@Suite("The recipes of rotate") struct RecipeHelpTests {
    private let home: CommandHome
    private let prefix: TemporaryDirectory

    init() throws {
        home = try CommandHome()
        prefix = try TemporaryDirectory(named: "prefix")
    }

    /// Runs `rotate --help` with the program below the prefix.
    private func help() throws -> String {
        let program = prefix.path("bin/zg-env")
        if !FileManager.default.fileExists(atPath: program) {
            try FileManager.default.createDirectory(
                atPath: prefix.path("bin"), withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                atPath: try ProgramRunner.pathOfProduct("zg-env"), toPath: program)
        }
        return done(try home.wrapped(program) { _ in ["rotate", "--help"] }.run()).output
    }

    @Test("T2: an installed program prints the directory of its recipes")
    func installed() throws {
        let without = try help()
        #expect(without.contains("are in docs/recipes in the"), "\(without)")
        let recipes = prefix.path("share/zg-env/recipes")
        try FileManager.default.createDirectory(
            atPath: recipes, withIntermediateDirectories: true)
        let with = try help()
        let real = URL(fileURLWithPath: recipes).resolvingSymlinksInPath().path
        #expect(
            with.contains("signing keys are in \(real)\n") || with.contains("\n\(real)\n"),
            "\(with)")
        #expect(!with.contains("docs/recipes"), "\(with)")
    }
}
