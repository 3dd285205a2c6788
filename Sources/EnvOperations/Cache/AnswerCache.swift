internal import JSON
package import Sealing
package import Vault
internal import VercelAPI

/// Answers of the platform on the disk, sealed with a key of the index tier.
///
/// What cannot be opened is thrown away and never an error; what cannot be written is told to
/// `complain` and never an error either. Every answer is one of an address, which its name is made
/// of and which stands in it too.
package final class AnswerCache {
    private let sealing: AnswerSealing
    private let store: any AnswerStore
    private let complain: (String) -> Void

    /// - Parameters:
    ///   - key: The vault's answer cache key.
    ///   - complain: Told why something could not be kept, in one sentence.
    package init(
        key: borrowing SecretBytes, vault: Identifier, store: any AnswerStore,
        complain: @escaping (String) -> Void
    ) throws(SealingError) {
        sealing = try AnswerSealing(key: key, vault: vault)
        self.store = store
        self.complain = complain
    }

    /// A name for whoever has this token, which does not give it away.
    package func account(ofToken token: SecretSlice) throws(SealingError) -> String {
        "token " + (try sealing.name(of: token))
    }

    /// The answer that is kept for an address, however old.
    package func answer(at address: AnswerAddress) throws(SealingError) -> KeptAnswer? {
        let name = try sealing.name(of: address)
        guard let file = store.read(name) else { return nil }
        guard let answer = sealing.open(file, as: name), answer.address == address else {
            discard(name)
            return nil
        }
        return answer
    }

    /// All answers that are kept and open, of the addresses that `isMeant` chooses.
    package func answers(where isMeant: (AnswerAddress) -> Bool) -> [KeptAnswer] {
        guard let files = try? store.files() else { return [] }
        return files.compactMap { file in
            guard let bytes = store.read(file.name),
                let answer = sealing.open(bytes, as: file.name), isMeant(answer.address)
            else { return nil }
            return answer
        }
    }

    /// Keeps what may be kept of an answer, in place of an earlier one, and drops what is too old or
    /// too much.
    ///
    /// - Parameters:
    ///   - askedAt: When the question was sent.
    ///   - now: The same clock.
    package func keep(
        _ answer: some KeepableAnswer, at address: AnswerAddress, askedAt: UInt64, now: UInt64
    ) throws(SealingError) {
        let name = try sealing.name(of: address)
        let kept = KeptAnswer(
            address: address, askedAt: askedAt, content: answer.kept.encoded)
        let file = sealing.seal(kept, as: name)
        guard file.count <= AnswerPolicy.answerByteLimit else {
            discard(name)
            return complain("An answer is too long to be kept.")
        }
        do throws(AnswerStoreError) {
            try store.write(file, to: name)
            for surplus in AnswerPolicy.surplus(of: try store.files(), now: now) {
                try store.remove(surplus)
            }
        } catch {
            complain("Answers are not kept: \(error.reason).")
        }
    }

    /// Drops the answer of an address.
    package func drop(_ address: AnswerAddress) throws(SealingError) {
        discard(try sealing.name(of: address))
    }

    /// Drops the answers that `isMeant` chooses.
    ///
    /// - Parameter unreadable: Whether files that do not open go too: damaged ones, and those of other
    ///   vaults and of former index keys.
    package func drop(unreadable: Bool = false, where isMeant: (KeptAnswer) -> Bool) {
        let files: [AnswerPolicy.File]
        do throws(AnswerStoreError) {
            files = try store.files()
        } catch {
            return complain("Answers may be left behind: \(error.reason).")
        }
        for file in files {
            guard let bytes = store.read(file.name) else {
                if unreadable { discard(file.name) }
                continue
            }
            let answer = sealing.open(bytes, as: file.name)
            if answer.map(isMeant) ?? unreadable { discard(file.name) }
        }
    }

    private func discard(_ name: String) {
        do throws(AnswerStoreError) {
            try store.remove(name)
        } catch {
            complain("An answer could not be removed: \(error.reason).")
        }
    }
}
