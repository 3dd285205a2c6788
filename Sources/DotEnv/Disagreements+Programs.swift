extension Disagreements {
    /// Returns how bash and Compose read the text, and what programs expand or unescape in it.
    ///
    /// - Parameter told: The offsets of statements that already have a finding.
    func programFindings(_ own: NameTable, _ told: inout Set<Int>) -> [DotEnvReading.Finding] {
        var findings: [DotEnvReading.Finding] = []
        for (index, statement) in own.statements.enumerated()
        where own.isLast(index) && !isPrototype(statement) {
            if expandsInJavaScript(statement) {
                findings.append(finding(.differsExpansion, statement))
                told.insert(statement.key.lowerBound)
            } else if unescapesInRuby(statement), told.insert(statement.key.lowerBound).inserted {
                findings.append(finding(.differsEscape, statement))
            }
            if findings.count > DotEnvReader.maximumDiagnostics { return findings }
        }
        add(composeReading(), .differsCompose, own, &findings, &told)
        // For what precedes the mark the mark is the cause, and for a non-portable name the name.
        if survey.start > 0, let first = own.statements.first {
            told.insert(first.key.lowerBound)
        }
        for statement in own.statements where !text.isPortableName(statement.key) {
            told.insert(statement.key.lowerBound)
        }
        add(shellReading(), .differsShell, own, &findings, &told)
        return findings
    }

    private func finding(
        _ code: DotEnvDiagnostic.Code, _ statement: Statement
    ) -> DotEnvReading.Finding {
        .init(offset: statement.key.lowerBound, code: code, key: statement.key)
    }

    // MARK: Values

    /// Returns whether any version of dotenv-expand changes the value. It does not know the quotes.
    func expandsInJavaScript(_ statement: Statement) -> Bool {
        guard hasDollar(statement) else { return false }
        enum State { case plain, backslash, dollar, brace, braced }
        var state = State.plain
        var bytes = DecodedBytes(text, statement.value, statement.encoding)
        while let byte = bytes.next() {
            switch (state, byte) {
            case (.backslash, Byte.dollar): return true
            case (.dollar, _) where byte.isWord, (.brace, _) where byte.isWord: return true
            case (.braced, Byte.rightBrace): return true
            case (.dollar, Byte.leftBrace): state = .brace
            case (_, Byte.dollar) where state != .brace && state != .braced: state = .dollar
            case (_, Byte.backslash): state = .backslash
            case (.brace, Byte.leftBrace), (.brace, Byte.rightBrace), (.braced, Byte.leftBrace):
                state = .plain
            case (.brace, _), (.braced, _): state = byte == Byte.dollar ? .dollar : .braced
            default: state = .plain
            }
        }
        return false
    }

    /// Returns whether Ruby's parser and others drop a backslash, which they do outside single
    /// quotes.
    func unescapesInRuby(_ statement: Statement) -> Bool {
        let value = statement.value
        guard text.contains(Byte.backslash, in: value) else { return false }
        let isSingle =
            value.lowerBound > statement.key.upperBound
            && text[value.lowerBound - 1] == Byte.singleQuote
        return !isSingle
    }

    // MARK: Programs

    /// What a program reads, and where it stops.
    private struct Reading {
        var statements: [Statement] = []
        /// Places that the program reads differently, with the diagnostic.
        var places: [(offset: Int, code: DotEnvDiagnostic.Code)] = []
        /// Where the program stops reading.
        var end = Int.max
    }

    private func shellReading() -> Reading {
        var reading = Reading()
        var scanner = ShellScanner(text, locates: false)
        while reading.places.count <= DotEnvReader.maximumDiagnostics {
            do throws(DotEnvError) {
                guard let statement = try scanner.next() else { break }
                reading.statements.append(statement)
            } catch {
                let offset = error.offset ?? text.count
                let byte = text[offset]
                let expands =
                    byte == Byte.dollar || byte == Byte.backtick || byte == UInt8(ascii: "~")
                reading.places.append((offset, expands ? .differsExpansion : .differsShell))
                if error.code == .refused {
                    // A quote without an end: bash reads nothing after it.
                    reading.end = offset
                    break
                }
                scanner.skipLine(from: offset)
            }
        }
        return reading
    }

    private func composeReading() -> Reading {
        var reading = Reading()
        var scanner = ComposeScanner(text, survey)
        do throws(DotEnvError) {
            while let statement = try scanner.next() { reading.statements.append(statement) }
        } catch {
            // Compose refuses the whole file for one mistake.
            reading.end = error.offset ?? text.count
            reading.places.append((reading.end, .differsCompose))
        }
        reading.places += scanner.live.map { ($0.lowerBound, .differsExpansion) }
        return reading
    }

    private func add(
        _ reading: Reading, _ fallback: DotEnvDiagnostic.Code, _ own: NameTable,
        _ findings: inout [DotEnvReading.Finding], _ told: inout Set<Int>
    ) {
        for place in reading.places {
            if let statement = statement(at: place.offset, own) {
                if told.insert(statement.key.lowerBound).inserted {
                    findings.append(finding(place.code, statement))
                }
            } else if place.offset < survey.start {
                continue
            } else if fallback == .differsCompose, told.insert(place.offset).inserted {
                findings.append(.init(offset: min(place.offset, text.count), code: fallback))
            } else if hidesStatement(place.offset, own), told.insert(place.offset).inserted {
                findings.append(.init(offset: place.offset, code: .differsLineEnding))
            }
        }
        let table = NameTable(text, reading.statements)
        for (index, statement) in own.statements.enumerated()
        where own.isLast(index) && !told.contains(statement.key.lowerBound) {
            if findings.count > DotEnvReader.maximumDiagnostics { return }
            guard let other = table.last(like: index, of: own) else {
                if statement.key.lowerBound < reading.end {
                    told.insert(statement.key.lowerBound)
                    findings.append(finding(fallback, statement))
                }
                continue
            }
            if hasSameValue(statement, other), fallback != .differsShell || !isShellsOwn(statement)
            {
                continue
            }
            told.insert(statement.key.lowerBound)
            // What follows is a command of its own for a shell, whatever the other parsers make of it.
            let isCut =
                fallback == .differsShell && text[other.value.upperBound] == UInt8(ascii: ";")
            findings.append(
                finding(isCut ? fallback : cause(statement, other) ?? fallback, statement))
        }
        for (index, statement) in reading.statements.enumerated()
        where own.last(like: index, of: table) == nil {
            if findings.count > DotEnvReader.maximumDiagnostics { return }
            // A part of a value that has a finding already.
            if fallback == .differsShell,
                let outer = self.statement(at: statement.key.lowerBound, own),
                outer.value.contains(statement.key.lowerBound),
                told.contains(outer.key.lowerBound)
            {
                continue
            }
            if told.insert(statement.key.lowerBound).inserted {
                findings.append(
                    .init(offset: statement.key.lowerBound, code: .differsExtraName))
            }
        }
    }

    /// Returns whether a CR is before a comment on the same line, and a statement after it. For
    /// bash this is a command, and its quotes may reach into that statement.
    private func hidesStatement(_ start: Int, _ own: NameTable) -> Bool {
        guard text[start] == Byte.carriageReturn, let last = own.statements.last else {
            return false
        }
        let end = text.firstIndex(of: Byte.lineFeed, from: start, to: text.count)
        return text[text.skippingSpaces(from: start, to: end)] == Byte.hash
            && last.key.lowerBound > end
    }

    /// Returns why a program reads a different value; nil if the program itself is the reason.
    private func cause(_ statement: Statement, _ other: Statement) -> DotEnvDiagnostic.Code? {
        if hasSameValue(statement, other) { return nil }
        if hasDollar(statement) { return .differsExpansion }
        let code = valueCause(statement, other)
        return code == .differsValue ? nil : code
    }

    private func isShellsOwn(_ statement: Statement) -> Bool {
        WritingRules.shellReservedNames.contains(text.name(statement.key, statement.keyEncoding))
    }

    /// Returns the statement that contains an offset.
    private func statement(at offset: Int, _ own: NameTable) -> Statement? {
        var low = 0
        var high = own.statements.count
        while low < high {
            let middle = (low + high) / 2
            if own.statements[middle].extent.lowerBound <= offset {
                low = middle + 1
            } else {
                high = middle
            }
        }
        guard low > 0 else { return nil }
        let statement = own.statements[low - 1]
        let end = text.lineBreak(from: statement.extent.upperBound, to: text.count)
        return offset <= end ? statement : nil
    }

    /// Returns whether bash and Compose read exactly `statements` and no program expands or
    /// unescapes anything in them.
    func programsAgree(_ statements: [Statement]) -> Bool {
        var shell = ShellScanner(text, locates: false)
        var compose = ComposeScanner(text, survey)
        do throws(DotEnvError) {
            for statement in statements {
                guard let first = try shell.next(), isSame(statement, first),
                    let second = try compose.next(), isSame(statement, second),
                    !expandsInJavaScript(statement), !unescapesInRuby(statement),
                    !isShellsOwn(statement)
                else { return false }
            }
            guard try shell.next() == nil, try compose.next() == nil else { return false }
            return compose.live.isEmpty
        } catch {
            return false
        }
    }
}
