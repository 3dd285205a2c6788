"""The main job works against a server that is not the sandbox."""

import unittest

from programs import Home
from second_server import SecondServer

ALL = "development,preview,production="
WEB = ("-p", "web")


class AnotherServer(unittest.TestCase):
    def setUp(self):
        self.server = SecondServer()
        self.home = Home(self.server.url)
        login = self.home.json("login", given=self.server.token)
        self.assertEqual(login["account"], "zoe")
        self.assertEqual([team["slug"] for team in login["teams"]], ["other", "zoo"])
        self.assertIsNone(login["expiresAt"])

    def tearDown(self):
        self.home.close()
        self.server.close()

    def test_accounts_teams_and_projects(self):
        self.home.run("login", "--name", "x", given="wrong-token-123", status=6)
        names = [item["name"] for item in self.home.json("project", "list")["projects"]]
        self.assertEqual(names, ["docs", "shop", "web"])
        team = self.home.json("project", "list", "--team", "zoo")["projects"]
        self.assertEqual([item["name"] for item in team], ["api"])
        self.assertEqual(self.home.json("account", "use", "zoe", "--team", "zoo")["team"], "zoo")
        self.assertEqual(len(self.home.json("project", "list")["projects"]), 1)
        account = self.home.json("account", "list", "--refresh")["accounts"][0]
        self.assertEqual((account["team"], account["valid"]), ("zoo", True))
        self.home.run("account", "use", "zoe", "--personal")
        self.home.run("link", "shop")
        self.home.run("link", "nowhere", "--force", status=4)

    def test_a_push_arrives_whatever_the_answers_look_like(self):
        self.home.run("import", "-", *WEB, given="A=1\nB=2\nC=3\nGONE=x\nKNOWN=k\n")
        self.home.run("set", "KNOWN", *WEB, "-t", "production", given="k")
        self.home.run("set", "HIDDEN", *WEB, "--type", "sensitive", given="h")
        self.home.run("rm", "KNOWN", *WEB, "-t", "preview,development", "--yes")
        report = self.home.json("push", *WEB, "--yes")
        self.assertEqual(
            sorted(item["key"] for item in report["created"]), ["A", "B", "C", "GONE", "HIDDEN"]
        )
        self.assertEqual([item["key"] for item in report["unchanged"]], ["KNOWN"])
        self.assertEqual([item["key"] for item in report["unverified"]], ["HIDDEN"])
        for key, value in ("A", "1"), ("B", "2"), ("C", "3"):
            self.assertEqual(self.server.records(key), [ALL + value])
        again = self.home.json("push", *WEB, "--yes")
        self.assertEqual(len(again["unchanged"]), 6)

        self.home.run("set", "A", *WEB, given="one")
        self.home.run("set", "B", *WEB, "-t", "production", given="two")
        self.home.run("set", "HIDDEN", *WEB, given="hh")
        self.home.run("rename", "C", "CC", *WEB)
        self.home.run("rename", "HIDDEN", "SECRET", *WEB)
        self.home.run("rm", "GONE", *WEB, "--yes")
        self.home.json("push", *WEB, "--yes")
        self.assertEqual(self.server.records("A"), [ALL + "one"])
        self.assertEqual(self.server.records("B"), ["development,preview=2", "production=two"])
        self.assertEqual(self.server.records("C"), [])
        self.assertEqual(self.server.records("CC"), [ALL + "3"])
        self.assertEqual(self.server.records("HIDDEN"), [])
        self.assertEqual(self.server.records("SECRET"), ["preview,production=hh"])
        self.assertEqual(self.server.records("GONE"), [])
        self.assertEqual(self.server.records("NEW_KIND"), ["edge=?"])
        states = {item["sync"] for item in self.home.json("list", *WEB, "--refresh")["variables"]}
        self.assertEqual(states, {"synced"})
        self.home.json("list", "--all-projects", "--refresh")

    def test_a_conflict_and_a_refusal_are_told(self):
        self.home.run("set", "KNOWN", *WEB, "-t", "production", given="other")
        report = self.home.json("push", *WEB, "--yes", status=5)
        self.assertEqual([item["key"] for item in report["conflicts"]], ["KNOWN"])
        self.assertEqual(self.server.records("KNOWN"), ["production=k"])
        self.home.json("push", *WEB, "--yes", "--force")
        self.assertEqual(self.server.records("KNOWN"), ["production=other"])

    def test_a_redeployment_is_followed_until_it_is_live(self):
        self.home.run("set", "FRESH", *WEB, given="f")
        self.home.json("push", *WEB, "--yes")
        made = self.home.json("redeploy", *WEB, "--yes", "--wait")
        self.assertEqual((made["state"], made["current"]), ("READY", True))
        self.assertIsNotNone(made["previous"])
        self.assertIn("FRESH", self.server.platform.deployments[0]["env"])
        listed = self.home.json("list", "FRESH", *WEB)["variables"][0]
        self.assertTrue(listed["live"])


if __name__ == "__main__":
    unittest.main()
