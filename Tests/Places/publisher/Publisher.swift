import Foundation
import GroupPlaces
import Groups
import Vault

/// Uses a place from a process of its own, for tests that kill it or start several.
///
///     zg-env-place-publisher PLACE COPIES GROUP changes SEED COUNT
///     zg-env-place-publisher PLACE COPIES GROUP entry NUMBER TEXT
///     zg-env-place-publisher PLACE COPIES GROUP refresh TOKEN
///
/// `changes` prints each path after it was published, `entry` prints won or lost, `refresh` prints
/// the new token.
@main
enum Publisher {
    static func main() {
        do {
            try run(CommandLine.arguments)
        } catch let error as PlaceError {
            print("error \(error.code.rawValue) \(error.reason)")
            exit(1)
        } catch {
            print("error \(error)")
            exit(1)
        }
    }

    private static func run(_ arguments: [String]) throws {
        guard arguments.count >= 6,
            let group = bytes(ofHexadecimal: arguments[3]).flatMap({ GroupHash($0) })
        else { exit(2) }
        let variables = ProcessInfo.processInfo.environment.map { Array("\($0)=\($1)".utf8) }
        let address = try PlaceAddress.parse(arguments[1], relativeTo: "/")
        let place: any GroupPlace =
            address.kind == .directory
            ? DirectoryPlace(address.text)
            : GitPlace(address, copyIn: arguments[2], GitEnvironment(variables))
        switch arguments[4] {
        case "changes":
            for number in 0..<(Int(arguments[6]) ?? 0) {
                let object = change("\(arguments[5]) \(number)")
                _ = try place.publish([object], to: group)
                // Without a buffer, which a kill would lose.
                FileHandle.standardOutput.write(Data("\(object.path.text)\n".utf8))
            }
        case "entry":
            let path = ObjectPath.entry(UInt64(arguments[5]) ?? 0)
            guard let object = PlaceObject(path, Array(arguments[6].utf8)) else { exit(2) }
            let taken = try place.publish([object], to: group)
            print(taken.isEmpty ? "won" : "lost")
        case "refresh":
            print(try place.refresh(group, since: arguments[5]).token)
        default: exit(2)
        }
    }

    private static func change(_ text: String) -> PlaceObject {
        let bytes = Array(String(repeating: text + "\n", count: 20).utf8)
        guard let object = PlaceObject(.change(GroupHash(of: bytes)), bytes) else { exit(2) }
        return object
    }

    private static func bytes(ofHexadecimal text: String) -> [UInt8]? {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == 64 else { return nil }
        return stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
    }
}
