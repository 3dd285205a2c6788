"""The rules of the write path, and what takes each one out.

`first` and `count` are the sequences of the model test, with ZG_ENV_PROOF_SEED=1, in which that is noticed.
After a change of ModelGenerator they may be others: mutations.py --search 40 shows them.
"""

from dataclasses import dataclass


@dataclass
class Rule:
    name: str
    # What docs/sync.md or docs/rotation.md says of it.
    promise: str
    file: str
    old: str
    # WITHOUT is true where the rule is left out.
    new: str
    first: int = 0
    count: int = 3


PUSH = "EnvOperations/Push/"
SENDING = PUSH + "PushApplication+Sending.swift"
DELETING = PUSH + "PushApplication+Deleting.swift"
READ_BACK = PUSH + "PushApplication+ReadBack.swift"
RESOLUTION = PUSH + "SendResolution.swift"
PULLING = "EnvOperations/Pull/PullPlanning.swift"

RULES = [
    # Looking before each write.
    Rule("age", "Right before each change the project is listed, unless the last listing is less than a second old.",
         "EnvOperations/Platform/FreshListing.swift",
         "client.elapsed - readAt.elapsed < Self.maximumAge",
         "WITHOUT || client.elapsed - readAt.elapsed < Self.maximumAge",
         first=9),
    Rule("pause", "… and was made after the last wait and retry.",
         "EnvOperations/Platform/FreshListing.swift",
         "client.pauseCount == readAt.pauseCount",
         "WITHOUT || client.pauseCount == readAt.pauseCount",
         first=8),
    Rule("question", "… and after the last question.",
         "ZGEnvCommands/Sync/PushWork.swift",
         "            // The question may have been open for any time.\n            listing.expire()",
         "            if !WITHOUT { listing.expire() }",
         first=7),
    Rule("plan", "Where a change is found before the first write, nothing at all is sent.",
         PUSH + "PushApplication.swift",
         "        try rejectChanged(plan)",
         "        if !WITHOUT { try rejectChanged(plan) }",
         first=6),
    Rule("unseen", "A record that was changed there since both sides agreed is a conflict of a push.",
         PUSH + "PushPlanning.swift",
         "if isChangedThere && !rules.force && saysSomething {",
         "if !WITHOUT && isChangedThere && !rules.force && saysSomething {",
         first=6),
    Rule("compared", "A record with another updatedAt than in the plan is not sent, also by a later attempt.",
         SENDING,
         "guard !steps.contains(where: { self.isChanged($0.step, in: records) }) else {",
         "guard WITHOUT || !steps.contains(where: { self.isChanged($0.step, in: records) }) else {",
         first=8),
    Rule("moved", "A record that moved between plan and write is a conflict.",
         SENDING,
         "return record.updatedAt != expectedTimes[id]",
         "return !WITHOUT && record.updatedAt != expectedTimes[id]",
         first=5),
    Rule("deleted", "So is one that is to be deleted.",
         SENDING,
         "        guard let record = records[id] else { return !step.isDeletion }",
         "        if WITHOUT, step.isDeletion { return false }\n"
         "        guard let record = records[id] else { return !step.isDeletion }",
         first=6),
    Rule("upsert-exact", "Only what goes to exactly its key and scope is changed by key.",
         SENDING,
         "record.attributes.scope == step.attributes.scope,\n            step",
         "WITHOUT || record.attributes.scope == step.attributes.scope,\n            step",
         first=12),
    Rule("successor", "The old record of a renamed sensitive variable goes once the new one is there.",
         DELETING,
         "guard let successor = placed.step.successor else { return true }",
         "guard !WITHOUT, let successor = placed.step.successor else { return true }",
         first=25),
    # Looking afterwards.
    Rule("list-afterwards", "A record that has another updatedAt or author than in Vercel's answer is a conflict.",
         READ_BACK,
         "guard answered.updatedAt == listed.updatedAt, isSameAuthor else {",
         "guard WITHOUT || answered.updatedAt == listed.updatedAt && isSameAuthor else {",
         first=11),
    Rule("untouched", "So is one that needed nothing, and was changed since the plan.",
         "ZGEnvCommands/Sync/PushWork.swift",
         "report.overtaken = overtaken(plan.unchanged, adopted, platform, listing.last)",
         "report.overtaken = WITHOUT ? [] : overtaken(plan.unchanged, adopted, platform, listing.last)",
         first=12),
    Rule("kept-nothing", "A record that has not moved was not stored: failed, never synced.",
         READ_BACK,
         "if listed.updatedAt == before,",
         "if !WITHOUT, listed.updatedAt == before,",
         first=0),
    Rule("read-back", "A value that Vercel shows is read back.",
         READ_BACK,
         "if outcome.step.sendsValue { return try judgeValue(outcome, answer) }",
         "if outcome.step.sendsValue { return WITHOUT ? .verified : try judgeValue(outcome, answer) }",
         first=1),
    Rule("scope", "So is its scope.",
         READ_BACK,
         "guard record.attributes.scope == wanted.scope else {",
         "guard WITHOUT || record.attributes.scope == wanted.scope else {",
         first=2),
    Rule("kind", "So is its type.",
         READ_BACK,
         "guard record.attributes.kind == wanted.kind else {",
         "guard WITHOUT || record.attributes.kind == wanted.kind else {",
         first=3),
    Rule("value", "Where only scope, name or type was sent, the value is held against the vault's.",
         READ_BACK,
         "return ours.equals(theirs)\n",
         "return WITHOUT || ours.equals(theirs)\n",
         first=10),
    Rule("sent", "What was answered and not read back yet is not agreed on.",
         PUSH + "VaultTransaction+Pushing.swift",
         "let version = withValue ? 0 : known?.pushedVersion ?? 0",
         "let version =\n"
         "                    withValue\n"
         "                    ? (WITHOUT ? index.variables[position].currentVersion : 0)\n"
         "                    : known?.pushedVersion ?? 0",
         first=4),
    # Writes whose answer was not heard.
    Rule("other-author", "What another author changed while a request got no answer is a conflict.",
         SENDING,
         "if isMoved, isForeign {",
         "if isMoved, isForeign, !WITHOUT {",
         first=8),
    Rule("unnamed", "A creation that the answer does not name is looked up.",
         SENDING,
         "if refusal == nil || isRepeat && refusal?.error.code == .conflict {",
         "if refusal == nil && !WITHOUT || isRepeat && refusal?.error.code == .conflict {",
         first=24),
    Rule("unnamed-change", "So is a change.",
         SENDING,
         "                silent.append((place, step))",
         "                if !WITHOUT { silent.append((place, step)) }",
         first=13),
    Rule("made-again", "A record that was removed and made again under its key is another one.",
         SENDING,
         "records.first(where: { $0.id == step.remoteID })",
         "records.first(where: { WITHOUT ? $0.key == step.key : $0.id == step.remoteID })",
         first=13),
    Rule("journal-window", "After a kill a record that moved outside of the attempt's time is a conflict.",
         RESOLUTION,
         "send.mayHaveChanged(at: record.updatedAt),",
         "WITHOUT || send.mayHaveChanged(at: record.updatedAt),",
         first=19),
    Rule("journal-author", "So is one that Vercel names another author of.",
         RESOLUTION,
         "guard !isForeign, record.key == send.key",
         "guard WITHOUT || !isForeign, record.key == send.key",
         first=18),
    Rule("presumed-sent", "A value that is not shown is sent again, not called sent.",
         RESOLUTION,
         "return send.version > 0 ? 0 : candidate.variable.remote?.pushedVersion ?? 0",
         "return send.version > 0\n"
         "                ? (WITHOUT ? send.version : 0) : candidate.variable.remote?.pushedVersion ?? 0",
         first=17),
    Rule("harden-journal", "What harden was killed at it does again.",
         "ZGEnvCommands/Sync/HardenWork.swift",
         "        rules.begun = Set(\n",
         "        rules.begun = WITHOUT ? [] : Set(\n",
         first=3),
    # Pulling.
    Rule("pull-conflict", "A pull leaves alone what was changed on both sides.",
         PULLING,
         "        let who = record.phrase(for: record.updatedBy, as: rules.ownUser)",
         "        if WITHOUT { return taken(variable, record) }\n"
         "        let who = record.phrase(for: record.updatedBy, as: rules.ownUser)",
         first=7),
    Rule("undecided", "A value that is not shown and was changed there stays behind.",
         PULLING,
         "undecided.staysBehind = true",
         "undecided.staysBehind = !WITHOUT",
         first=16),
    Rule("withheld", "A value that should be shown and was not is requested again.",
         PULLING,
         "?? (record.integration == nil ? .withheld : .hidden)",
         "?? (record.integration == nil && !WITHOUT ? .withheld : .hidden)",
         first=11),
    Rule("not-shown", "… and changes nothing of what the vault has.",
         PULLING,
         "            // overwrite it.\n"
         "            return .unread(",
         "            // overwrite it.\n"
         "            if WITHOUT { return .step(step(withValue: false), nil) }\n"
         "            return .unread(",
         first=17),
    # Rotations.
    Rule("revoke", "Vercel's records are read before the old value is ended.",
         "EnvOperations/Rotation/RotationApplication.swift",
         "if let failure = try change(so: consequence) { return machine.stop(failure) }",
         "if !WITHOUT, let failure = try change(so: consequence) { return machine.stop(failure) }",
         first=11),
    Rule("before-first", "A change before the first write of a rotation ends it: nothing was sent, nothing is open.",
         "EnvOperations/Rotation/RotationApplication.swift",
         "guard !wasBegun, try keeper",
         "guard !WITHOUT, !wasBegun, try keeper",
         first=5),
    Rule("evidence-author", "Only another user's change proves that Vercel has not the new value.",
         "EnvOperations/Rotation/RotationRemoteValue.swift",
         "isForeign && isSame && record",
         "(WITHOUT || isForeign) && isSame && record",
         first=25),
    Rule("evidence-same", "… and not a change of scope, name or comment.",
         "EnvOperations/Rotation/RotationRemoteValue.swift",
         "let isSame = isInPlace && record",
         "let isSame = WITHOUT || isInPlace && record",
         first=59),
]
