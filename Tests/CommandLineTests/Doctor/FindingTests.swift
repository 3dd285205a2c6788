internal import CommandLineKit
import Glibc
import Testing
import Vault

@testable import KernelKeyring
@testable import SecretServiceKeyring
@testable import ZGEnvCommands

/// The findings of `doctor` for conditions that a test machine does not have.
@Suite("Findings of doctor")
struct FindingTests {
    private func rule(_ forbidden: mode_t, kind: mode_t = S_IFREG, sticky: Bool = false)
        -> FileChecks.Rule
    {
        var rule = FileChecks.Rule(
            check: "vault-file", path: "/v", kind: kind, forbidden: forbidden)
        (rule.allowsStickyBit, rule.allowsRoot) = (sticky, sticky)
        return rule
    }

    @Test(arguments: [
        (0o600, S_IFREG, 1000, Finding.State.ok, ""),
        (0o640, S_IFREG, 1000, .failed, "Run: chmod go-rwx /v"),
        (0o601, S_IFREG, 1000, .failed, "Run: chmod go-rwx /v"),
        (0o600, S_IFREG, 0, .failed, "Run: chown 1000 /v"),
        (0o600, S_IFLNK, 1000, .failed, "symbolic links are not accepted"),
        (0o700, S_IFDIR, 1000, .failed, "Move it out of the way"),
    ])
    func `a file must belong to the user and nobody else`(
        mode: Int, kind: mode_t, owner: Int, state: Finding.State, remedy: String
    ) throws {
        let status = FileChecks.Status(kind: kind, mode: mode_t(mode), owner: uid_t(owner))
        let finding = try #require(FileChecks.finding(rule(0o077), status, user: 1000))
        #expect(finding.state == state)
        #expect((finding.remedy ?? "").contains(remedy))
        #expect((finding.remedy == nil) == (state == .ok))
    }

    @Test func `sentences are wrapped between words, below their column`() {
        let text = Finding.table(
            [
                Finding(
                    "vault", .failed, "The directory belongs to another user.",
                    remedy: "Set HOME to a directory that you own.")
            ], width: 40
        ).text()
        #expect(
            text == """
                STATE   CHECK  RESULT
                failed  vault  The directory belongs to
                               another user.
                               -> Set HOME to a
                               directory that you own.

                """, "\(text)")
    }

    @Test func `a directory may belong to root, and be writable to others if sticky`() {
        func state(_ mode: mode_t, _ owner: uid_t, sticky: Bool) -> Finding.State? {
            FileChecks.finding(
                rule(0o022, kind: S_IFDIR, sticky: sticky),
                .init(kind: S_IFDIR, mode: mode, owner: owner), user: 1000)?.state
        }
        #expect(state(0o755, 0, sticky: true) == .ok)
        #expect(state(0o1777, 0, sticky: true) == .ok)
        #expect(state(0o777, 0, sticky: true) == .failed)
        #expect(state(0o1777, 1000, sticky: false) == .failed)
        #expect(state(0o755, 0, sticky: false) == .failed)
        #expect(FileChecks.finding(rule(0o077), nil, user: 1000) == nil)
    }

    @Test(arguments: [(EACCES, "Run: chmod u+wx /v"), (EROFS, "Mount the file system read-write")])
    func `an unwritable directory is a failure`(
        number: Int32, remedy: String
    ) throws {
        let finding = try #require(
            FileChecks.finding(
                rule(0o022, kind: S_IFDIR), .init(kind: S_IFDIR, mode: 0o500, owner: 1000),
                user: 1000, refusal: number))
        #expect(finding.state == .failed)
        #expect(finding.message.contains("the vault cannot be changed"))
        #expect(finding.remedy?.contains(remedy) == true)
    }

    @Test(arguments: [
        (0x6969, "NFS"), (0xFF53_4D42, "CIFS"), (0x6573_5546, "FUSE"), (0x0102_1994, "tmpfs"),
    ])
    func `file systems that lose data are warned about`(type: Int64, name: String) {
        let finding = FileChecks.fileSystem(type, "/v")
        #expect(finding.state == .warning)
        #expect(finding.message.contains(name))
        #expect(finding.remedy?.contains("--vault") == true)
        #expect(FileChecks.fileSystem(0xEF53, "/v").state == .ok)
        #expect(FileChecks.fileSystem(-1, "/v").state == .skipped)
    }

    @Test func `memory that is unlocked or too small is reported with its limit`() {
        func lock(_ isThere: Bool, _ isLocked: Bool, _ limit: UInt64?) -> Finding {
            MemoryChecks.memoryLock(isThere: isThere, isLocked: isLocked, limit: limit)
        }
        #expect(lock(true, true, 8 << 20).state == .ok)
        #expect(lock(true, true, .max).message.contains("no limit"))
        #expect(lock(true, false, 65_536).state == .warning)
        #expect(lock(true, false, 65_536).message.contains("64 KiB"))
        #expect(lock(false, true, nil).state == .failed)
        #expect(MemoryChecks.coreDumps(isDumpable: true, limit: 0).state == .failed)
        #expect(MemoryChecks.coreDumps(isDumpable: false, limit: 1).state == .failed)
        #expect(MemoryChecks.coreDumps(isDumpable: false, limit: 0).state == .ok)
        func memory(_ cost: UInt64?, _ available: UInt64?) -> Finding.State {
            MemoryChecks.passphraseMemory(cost: cost, available: available).state
        }
        #expect(memory(256 << 20, 100 << 20) == .failed)
        #expect(memory(256 << 20, 256 << 20) == .ok)
        #expect(memory(nil, 1) == .skipped && memory(1, nil) == .skipped)
    }

    @Test func `missing libraries are reported with their package`() {
        #expect(LibraryChecks.sodium(nil).state == .failed)
        #expect(LibraryChecks.sodium(nil).remedy?.contains("libsodium23") == true)
        #expect(LibraryChecks.sodium("1.0.18").message.contains("1.0.18"))
        #expect(LibraryChecks.secret(isThere: false).state == .warning)
        #expect(LibraryChecks.secret(isThere: false).remedy?.contains("libsecret-1-0") == true)
        #expect(LibraryChecks.curl(problem: "libcurl is older than 7.66").state == .warning)
        #expect(LibraryChecks.curl(problem: "x").remedy?.contains("libcurl4") == true)
    }

    @Test(arguments: [
        (KernelKeyringError.Code.noSession, "--scope user"), (.sessionEnded, "--scope user"),
        (.unavailable, "--passphrase-file"), (.full, "keyctl show"), (.failed, "keyctl show"),
    ])
    func `unusable kernel keyrings are a warning`(
        code: KernelKeyringError.Code, remedy: String
    ) {
        let finding = KernelKeyringChecks.finding(.session, .init(code, "the reason"))
        #expect(finding.state == .warning && finding.message == "The reason.")
        #expect(finding.remedy?.contains(remedy) == true)
        #expect(KernelKeyringChecks.finding(.user, nil).state == .ok)
    }

    @Test func `a desktop keyring matters only if the vault has a slot there`() {
        let error = KeyringError(.noProvider, "nobody is there")
        #expect(KeyringChecks.unreachable(error, 0).state == .skipped)
        #expect(KeyringChecks.unreachable(error, 0).remedy == nil)
        #expect(KeyringChecks.unreachable(error, 1).state == .warning)
        #expect(KeyringChecks.unreachable(error, 1).remedy != nil)
        func provider(_ collection: SecretServiceStatus.Collection) -> Finding {
            KeyringChecks.provider(.init(serviceName: "KWallet", collection: collection))
        }
        #expect(provider(.unlocked).state == .ok)
        #expect(provider(.locked).state == .warning && provider(.missing).state == .warning)
        #expect(provider(.locked).message.hasPrefix("KWallet "))
        #expect(KeyringChecks.orphans(found: 2, removed: 0).state == .warning)
        #expect(KeyringChecks.orphans(found: 2, removed: 2).state == .ok)
        #expect(
            KeyringChecks.slot("the slot", "ab", "no key").remedy?.contains("remove ab") == true)
    }

    @Test func `only slot keys can be orphans`() {
        func item(_ purpose: KeyringItem.Purpose, _ id: String) -> KeyringItem {
            KeyringItem(vault: "v", purpose: purpose, identifier: id)
        }
        let items = [item(.anchor, ""), item(.slotKey, "00ff"), item(.slotKey, "aa")]
        #expect(KeyringChecks.orphans(items, slots: []).map(\.identifier) == ["00ff", "aa"])
    }

    @Test func `clocks may differ by a minute`() {
        #expect(ClockChecks.finding(now: 1_000, written: nil).state == .warning)
        let now: Int64 = 1_800_000_000
        #expect(ClockChecks.finding(now: now, written: now + 60).state == .ok)
        #expect(ClockChecks.finding(now: now, written: now + 61).state == .warning)
        #expect(VercelChecks.clock(now: now, there: now - 60).state == .ok)
        let ahead = VercelChecks.clock(now: now, there: now - 3_600)
        #expect(ahead.state == .warning && ahead.message.contains("1 h ahead of Vercel"))
        #expect(
            VercelChecks.clock(now: now, there: now + 90).message.contains("1 min 30 s behind"))
        #expect(VercelChecks.clock(now: now, there: nil).state == .skipped)
        #expect(VercelChecks.reached("x", status: 403).state == .ok)
        #expect(VercelChecks.reached("x", status: 503).state == .failed)
    }

    @Test func `desktop programs matter only on a desktop`() {
        #expect(DesktopChecks.pinentry(hasScreen: false, isThere: false).state == .skipped)
        #expect(DesktopChecks.pinentry(hasScreen: true, isThere: false).state == .warning)
        #expect(DesktopChecks.pinentry(hasScreen: true, isThere: true).state == .ok)
        let none = CommandError(.failed, "None.", hint: "Install one.")
        #expect(DesktopChecks.clipboard(hasScreen: false, .failure(none)).state == .skipped)
        #expect(DesktopChecks.clipboard(hasScreen: true, .failure(none)).remedy == "Install one.")
        #expect(DesktopChecks.clipboard(hasScreen: true, .success(.xsel)).message.contains("xsel"))
    }
}
