internal import JSON
internal import PostalProtocol
internal import Sealing

/// Requests of devices.
extension Relay {
    /// `POST /devices`: registers a device with an invite.
    func join(_ body: [UInt8], _ head: RequestHead) -> HTTPAnswer {
        guard let value = try? JSONValue(parsing: body), let text = value["invite"]?.nonEmptyString,
            let letters = value["publicKey"]?.nonEmptyString, let publicKey = Self.key(of: letters)
        else { return refusal(.invalidRequest) }
        guard let code = InviteCode(typed: text) else {
            failures.add(head.client)
            return refusal(.invite)
        }
        let (text32, token) = DeviceToken.random()
        return withStore { () throws(StoreError) in
            let device = try store.redeem(
                inviteDigest: Invite.digest(of: code), id: token.deviceID,
                tokenDigest: token.digest, publicKey: publicKey, now: clock.now())
            guard let device else {
                failures.add(head.client)
                return refusal(.invite)
            }
            metrics.joined.add()
            return .json(
                [
                    "device": .string(device.id), "token": .string(text32),
                    "accounts": .strings(device.accounts), "number": .integer(device.start),
                ], status: 201)
        }
    }

    /// `GET /device`.
    func describe(_ device: Device) -> HTTPAnswer {
        withStore { () throws(StoreError) in
            .json([
                "device": .string(device.id), "accounts": .strings(device.accounts),
                "joinedAt": .integer(device.joinedAt),
                "acknowledged": .integer(device.acknowledged),
                "newest": .integer(try store.newest()),
            ])
        }
    }

    /// `DELETE /device`.
    func leave(_ device: Device) -> HTTPAnswer {
        withStore { () throws(StoreError) in
            _ = try store.removeDevice(id: device.id)
            // At once on this relay; the store informs others.
            running?.hub.take(.removed(devices: [device.id]), relay: name)
            return HTTPAnswer(status: 204)
        }
    }

    /// `POST /device/acknowledge`. Responds once it is stored, in a batch with other devices.
    func acknowledging(_ head: RequestHead) -> RequestPlan {
        limitedPlan(head) { [self] body, _, reply in
            let isTaken = running?.requests.add { [self] in acknowledge(body, head, reply) }
            if isTaken != true { reply(refusal(.busy)) }
        }
    }

    private func acknowledge(
        _ body: [UInt8], _ head: RequestHead, _ reply: @escaping @Sendable (HTTPAnswer) -> Void
    ) {
        var pending: Acknowledgement?
        let answer = authenticated(head) { (device) throws(StoreError) in
            guard case .integer(let number)? = (try? JSONValue(parsing: body))?["number"],
                number >= 0
            else { return refusal(.invalidRequest) }
            guard try number <= store.newest() else { return refusal(.invalidRequest) }
            if number > device.acknowledged {
                pending = Acknowledgement(device: device.id, number: number) { [self] isKept in
                    reply(isKept ? HTTPAnswer(status: 204) : refusal(.store))
                }
            }
            return HTTPAnswer(status: 204)
        }
        guard let pending else {
            reply(answer)
            return
        }
        if running?.acknowledging.add(pending) != true { reply(refusal(.busy)) }
    }

    /// `GET /events`: opens the stream after the last number that the device reports.
    func open(_ device: Device, _ lastEventID: String?, _ connection: ConnectionHandle)
        -> HTTPAnswer
    {
        guard let parts = running else { return refusal(.busy) }
        var after = device.acknowledged
        if let lastEventID, !lastEventID.isEmpty {
            guard lastEventID.utf8.count <= 18, let number = Int64(lastEventID), number >= 0 else {
                return refusal(.invalidRequest)
            }
            do throws(StoreError) {
                // An unknown number comes from a store that no longer exists.
                if number > after, try number <= store.newest() {
                    after = number
                    let had = Acknowledgement(device: device.id, number: number) { _ in }
                    _ = parts.acknowledging.add(had)
                }
            } catch {
                metrics.storeFailures.add()
                return refusal(.store)
            }
        }
        let stream = EventStream(device, after: after, connection, now: clock.steady())
        guard parts.hub.add(stream) else { return refusal(.busy) }
        store.announceStream(of: device.id, at: name)
        // A removal before the stream was registered could not end it.
        do throws(StoreError) {
            guard try store.device(id: device.id) != nil else {
                parts.hub.remove(stream)
                return refusal(.device)
            }
        } catch {
            parts.hub.remove(stream)
            metrics.storeFailures.add()
            return refusal(.store)
        }
        return .stream(stream)
    }

    /// Decodes a key of 32 bytes in base64 with padding. Returns nil for other spellings, and for
    /// points of low order, since anyone could open what is sealed to them.
    private static func key(of letters: String) -> [UInt8]? {
        let bytes = Array(letters.utf8)
        guard bytes.count == 44, bytes.last == UInt8(ascii: "=") else { return nil }
        guard let key = Base64.decoded(bytes[..<43]), key.count == SealedBox.publicKeyByteCount,
            SealedBox.isUsable(key)
        else { return nil }
        return key
    }
}
