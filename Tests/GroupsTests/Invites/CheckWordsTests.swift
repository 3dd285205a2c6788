import Foundation
import TestSupport
import Testing
import Vault

@testable import Groups

@Suite("The words that newcomer and admin compare")
struct CheckWordsTests {
    @Test func `follow from join and invite`() {
        let join = GroupHash(of: Array("join".utf8))
        let (one, two) = (TestRandom.identifier("invite", 1), TestRandom.identifier("invite", 2))
        // Computed with Python from the format's page.
        #expect(
            CheckWords.words(of: join, invite: one)
                == ["lantern", "carpet", "lunch", "stereo", "violin", "fox"])
        #expect(
            CheckWords.words(of: join, invite: two)
                == ["hedge", "emerald", "meadow", "nugget", "giraffe", "volcano"])
        #expect(
            CheckWords.words(of: .zero, invite: one)
                == ["ribbon", "parade", "pancake", "zebra", "ocean", "jockey"])
    }

    @Test func `come from a list of short words that sound different`() {
        let words = CheckWordList.words
        #expect(words.count == 256 && words == words.sorted())
        #expect(Set(words.map { $0.prefix(4) }).count == 256)
        for word in words {
            #expect((3...7).contains(word.count))
            #expect(word.utf8.allSatisfy { (0x61...0x7A).contains($0) }, "\(word)")
        }
    }

    @Test func `are the list of the format's page`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../docs/group-format.md")
        let page = try String(contentsOf: file, encoding: .utf8)
        let part = try #require(page.split(separator: "**Check words.**").last)
        let block = part.split(separator: "```")[1]
        #expect(block.split(whereSeparator: \.isWhitespace).map(String.init) == CheckWordList.words)
    }
}
