extension ValueCheck {
    func url(_ value: ValueSlice, _ type: ValueType) -> ValueFit {
        guard type.flag("prependHttps"), !value.starts(with: "https://".utf8) else {
            return plainURL(value, type)
        }
        return ScratchText.lend(value.count + 8) { text in
            text.append("https://".utf8)
            text.append(value)
            return plainURL(text.slice, type).combined(
                with: .coerced("does not start with https://"))
        }
    }

    private func plainURL(_ value: ValueSlice, _ type: ValueType) -> ValueFit {
        guard countComparisons(type.list("allowedDomains")) else { return Self.tooManyComparisons }
        if type.flag("noTrailingSlash"), value.last == UInt8(ascii: "/") {
            return .misfit("ends with a slash")
        }
        let fit = withoutLineEnds(value) { text in
            do throws(URLForm.Failure) {
                return Self.fit(of: try URLForm(text), to: type)
            } catch {
                switch error {
                case .notURL: return .misfit("not an absolute URL")
                case .international: return .unchecked("its host is not plain ASCII")
                }
            }
        }
        return fit.combined(with: pattern(type, value))
    }

    private static func fit(of url: URLForm, to type: ValueType) -> ValueFit {
        guard let domains = type.list("allowedDomains"), !url.hasHost(in: domains) else {
            return .fits
        }
        return .misfit("its host is not one of \(SchemaText.shown(domains))")
    }

    /// The URL parser removes tabs and line ends wherever they are.
    private func withoutLineEnds(
        _ value: ValueSlice, _ body: (ValueSlice) -> ValueFit
    ) -> ValueFit {
        func isRemoved(_ byte: UInt8) -> Bool { byte == 0x09 || byte == 0x0A || byte == 0x0D }
        guard value.contains(where: isRemoved) else { return body(value) }
        return ScratchText.lend(value.count) { text in
            for byte in value where !isRemoved(byte) { text.append(byte) }
            return body(text.slice)
        }
    }
}
