import Foundation
import Vault

@testable import Groups

/// States as `docs/group-format.md`, section 6.5, writes them.
enum StateJSON {
    static func state(_ state: CompartmentState) -> [String: Any] {
        [
            "counted": state.counted.map(\.hexadecimal),
            "effective": state.effective.map(\.hexadecimal),
            "heads": state.heads.map(\.hexadecimal),
            "late": reasons(state.late), "waiting": reasons(state.waiting),
            "doubled": state.doubled.map {
                [$0.author.hexadecimal, $0.chain.hexadecimal, Int($0.counter)] as [Any]
            },
            "projectNames": state.projectNames,
            "bindings": state.bindings.map { $0.map(binding) ?? NSNull() as Any },
            "records": state.records.map(record),
            "settled": state.settled.map { ($0, bytes(of: $0)) }
                .sorted { $0.1.lexicographicallyPrecedes($1.1) }.map {
                    [
                        Int($0.0.matter.rawValue), $0.0.subject.hexadecimal,
                        $0.0.object.hexadecimal, $0.0.reason,
                    ] as [Any]
                },
            "candidates": candidates(state.candidates),
        ]
    }

    private static func bytes(of settlement: Settlement) -> [UInt8] {
        [settlement.matter.rawValue] + settlement.subject.bytes + settlement.object.bytes
            + Array(settlement.reason.utf8)
    }

    private static func reasons<T: RawRepresentable>(_ reasons: [GroupHash: T]) -> [String: String]
    where T.RawValue == String {
        Dictionary(uniqueKeysWithValues: reasons.map { ($0.key.hexadecimal, $0.value.rawValue) })
    }

    private static func candidates(_ candidates: [Assigned: [ChangeReference]]) -> [String: Any] {
        Dictionary(
            uniqueKeysWithValues: candidates.map { ("\($0.key)", $0.value.map(\.text)) })
    }

    private static func binding(_ binding: GroupBinding) -> Any {
        [
            "origin": binding.origin, "team": binding.team ?? NSNull() as Any,
            "project": binding.project, "name": binding.name,
        ] as [String: Any]
    }

    private static func scope(_ scope: Scope) -> [String: Any] {
        [
            "targets": Int(scope.targets.rawValue), "environments": scope.customEnvironments,
            "branch": scope.branch ?? NSNull() as Any,
        ]
    }

    private static func choice(_ choice: RecordState.Choice) -> [String: Any] {
        [
            "version": choice.version.text, "id": choice.id.hexadecimal, "late": choice.isLate,
        ]
    }

    private static func record(_ record: RecordState) -> [String: Any] {
        [
            "id": record.id.hexadecimal, "inUse": record.isInUse, "offered": record.isOffered,
            "removedMeanwhile": record.wasRemovedMeanwhile, "names": record.names,
            "scopes": record.scopes.map(scope), "type": Int(record.type.rawValue),
            "comment": record.comment ?? NSNull() as Any, "reminder": Int(record.reminder),
            "choices": record.choices.map(choice), "offers": record.offers.map(choice),
            "claims": record.claims.map(\.text), "rotations": record.rotations.map(\.text),
            "candidates": candidates(record.candidates),
            "contested": record.contested.map(\.rawValue),
        ]
    }

    static func membership(_ chain: MembershipChain) -> [String: Any] {
        let state = chain.headStates.first ?? MembershipState()
        var members: [String: Any] = [:]
        for (id, member) in state.members {
            members[id.hexadecimal] =
                [
                    "active": member.isActive, "role": Int(member.rights.role.rawValue),
                    "limit": member.rights.limit.map { $0.map(\.hexadecimal) } ?? NSNull() as Any,
                ] as [String: Any]
        }
        return [
            "heads": chain.heads.map(\.hexadecimal), "refused": reasons(chain.refused),
            "waiting": chain.waiting.map(\.hexadecimal), "members": members,
            "epochs": Dictionary(
                uniqueKeysWithValues: state.epochs.map {
                    ($0.key.hexadecimal, Int($0.value.number))
                }),
        ]
    }
}
