import Testing

@testable import GroupPlaces

/// What git's messages mean. The texts are those of git 2.39.
@Suite("Failures of git")
struct GitFailureTests {
    private func result(_ error: String) -> GitProgram.Result {
        GitProgram.Result(status: 128, output: [], error: error)
    }

    @Test(arguments: [
        "fatal: fetch-pack: invalid index-pack output\n",
        "Receiving objects:  40% (2/5)\rfatal: early EOF\n"
            + "fatal: fetch-pack: invalid index-pack output\n",
        "remote: aborting due to possible repository corruption on the remote side.\n"
            + "fatal: early EOF\nfatal: fetch-pack: invalid index-pack output\n",
    ])
    func `a fetch that fails without a reason is worth another attempt`(text: String) {
        #expect(GitFailure.isFromDeadProgram(result(text)))
    }

    @Test(arguments: [
        ("", nil),
        (
            "error: object 1: badTree: x\nfatal: fsck error in packed object\n"
                + "fatal: fetch-pack: invalid index-pack output\n",
            "fatal: fsck error in packed object"
        ),
        (
            "remote: fatal: theirs\nfatal: couldn't find remote ref x\n",
            "fatal: couldn't find remote ref x"
        ),
    ])
    func `a fetch that fails with a reason is not, and shows it`(text: String, line: String?) {
        #expect(!GitFailure.isFromDeadProgram(result(text)))
        #expect(GitFailure.lastLine(text) == line)
    }
}
