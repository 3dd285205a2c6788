import Testing

@testable import Sandbox

@Suite struct `Notations` {
    @Test(arguments: [
        "GET /v2/user 429", "* * 429:5 x2", "POST /v10/projects/*/env lost-answer x1",
        "GET /v?/user 503", "* /* slow:0.5", "PATCH * reset", "DELETE * truncate",
        "GET * challenge", "GET * challenge:user_auth_required", "GET * drip", "GET * html",
        "POST * stores-empty", "POST * drops-target",
        "POST * forces-sensitive", "POST * rejects-one", "GET * saml", "GET * string-cursor",
        "GET * redirect:http://127.0.0.1:1/x", "get  /v2/user   500", "PATCH * stores-nothing @3",
        "PATCH * stores-nothing @3 x1", "PATCH * returns-old-record x1 @3", "GET * hides-values",
        "* * slow:100ms", "POST * ongoing", "POST * ongoing:One is under way, try later. x2",
        "POST * ongoing:Done%20100%25", "POST * silent-batch", "POST * silent-batch:one",
        "POST * echoes-value:KEY", "* * echoes-value:KEY,as=base64,in=code,status=403",
        "PATCH * before:set,key=A,value=two words,by=self x2 @2", "GET * then:remove,key=A",
        "GET * then:create,key=A,value=a%2Cb,targets=production+preview,type=sensitive",
        "GET * before:touch,id=x,by=nobody", "GET * then:move-project,team=acme",
        "GET * then:set,key=A,newTargets=preview", "GET * before:recreate-project",
        "POST * silent-batch:all,keeps=all,status=200", "POST * silent-batch:keeps=all",
        "* * escapes", "* * escapes:all", "GET * escapes:400 x1", "PATCH * says:400:a=%20:b",
    ])
    func `of faults are read`(text: String) { #expect(Fault(text) != nil) }

    @Test(arguments: [
        "", "GET", "GET /x", "GET /x nothing", "GET /x 700", "GET /x 42", "GET /x 429:x",
        "GET /x 429:-1", "GET /x slow", "GET /x slow:-1", "GET /x slow:nan", "GET /x reset x0",
        "GET /x reset 2", "GET /x reset x1 more", "G3T /x reset", "GET x reset",
        "GET /x reset:1", "GET /x reset @0", "GET /x reset @1 @2", "GET /x reset x1 x2",
        "GET /x slow:-1ms", "GET /x slow:ms", "GET /x stores-nothing:1", "GET /x ongoing:",
        "GET /x ongoing:%", "POST /x silent-batch:two", "POST /x silent-batch:one,one",
        "GET /x echoes-value", "GET /x echoes-value:", "GET /x echoes-value:K,as=rot13",
        "GET /x echoes-value:K,in=header", "GET /x echoes-value:K,status=200",
        "GET /x before", "GET /x before:", "GET /x then:dance", "GET /x then:set,key=A",
        "GET /x then:set,value=a", "GET /x then:create,key=A", "GET /x then:remove",
        "GET /x then:move-project", "GET /x then:set,key=A,value=%", "GET /x after:remove,key=A",
        "GET /x then:set,key=A,value=a,b", "GET /x then:set,key=A,type=secret",
        "POST /x silent-batch:one,keeps=some", "POST /x silent-batch:one,status=400",
        "POST /x silent-batch:one,keeps=all,keeps=all", "POST /x silent-batch:one,other=1",
        "GET /x escapes:some", "GET /x escapes:200", "GET /x says", "GET /x says:400",
        "GET /x says:200:text",
    ])
    func `of other things are not faults`(text: String) { #expect(Fault(text) == nil) }

    @Test(arguments: [
        ("/v10/projects/*/env", "/v10/projects/web/env", true),
        ("/v10/projects/*/env", "/v9/projects/web/env", false),
        ("/projects/*/env", "/v9/projects/web/env", true),
        ("/projects/*/env", "/projects/web/env", true),
        ("/v*/projects/*", "/v9/projects/web/env/1", true),
        ("*", "/anything/at/all", true), ("/v2/user", "/v2/users", false),
        ("/v?/user", "/v2/user", true), ("*/env", "/v2/env/x", false), ("/user", "/v2/user", true),
    ])
    func `of paths match`(pattern: String, path: String, matches: Bool) throws {
        let fault = try #require(Fault("GET \(pattern) 500"))
        #expect(fault.matches(method: "GET", path: path) == matches)
        #expect(!fault.matches(method: "POST", path: path))
    }

    @Test func `with many stars take no longer than the product of both lengths`() throws {
        let pattern = String(repeating: "*a", count: 500)
        let fault = try #require(Fault("* \(pattern)b 500"))
        let path = "/" + String(repeating: "a", count: 5000)
        let clock = ContinuousClock()
        let elapsed = clock.measure { #expect(!fault.matches(method: "GET", path: path)) }
        #expect(elapsed < .seconds(2))
    }

    @Test(arguments: [
        "ok", "fail", "ignored", "blocked", "keeps-old-env", "alias-late:5", "alias-late:0.5",
        "alias-error", "alias-never", "staged",
    ])
    func `of build modes are read and written`(text: String) {
        #expect(BuildMode(text)?.text == text)
    }

    @Test(arguments: [
        "", "OK", "alias-late", "alias-late:", "alias-late:-1", "fail:1", "alias-never:1", "broken",
    ])
    func `of other things are not build modes`(text: String) { #expect(BuildMode(text) == nil) }

    @Test(arguments: [
        ("http://127.0.0.1:8080/hook?x=1", true), ("http://localhost/", true),
        ("http://localhost", true), ("https://127.0.0.1/", false), ("http://example.com/", false),
        ("http://127.0.0.1:0/", false), ("http://127.0.0.1:99999/", false), ("http://", false),
        ("http://127.0.0.1:1:2/", false), ("http://127.0.0.1/a b", false),
    ])
    func `of URLs on this machine are recognized`(url: String, isDeliverable: Bool) {
        #expect(SandboxConfiguration.WebhookReceiver.isDeliverable(url) == isDeliverable)
    }
}
