import Testing

@testable import GroupPlaces

/// What git's messages mean. The texts are those of git 2.39.
@Suite("Failures of git")
struct GitFailureTests {
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
    func `the line with the reason is shown`(text: String, line: String?) {
        #expect(GitFailure.lastLine(text) == line)
    }
}
