"""The tools of assistants: what each asks the server, and the same through the client of the
official package.
"""

import inspect
import json
import sys

import pytest

from shortlist.errors import InputError, installing
from shortlist.integrations.mcp_tools import INSTRUCTIONS, Tools
from shortlist.server.client import Server
from tests.server.servers import in_thread

TOKEN = "a token that is long enough"
NAMES = ["rank", "explain", "labels", "learn", "undo"]


@pytest.fixture
def tools(server):
    return Tools(Server(str(server.base_url)))


def test_rank_and_explain(tools):
    answer = tools.rank("wheat exports rose", k=2)
    assert [one["label"] for one in answer["labels"]] == ["grain", "trade"]
    assert answer["decision"]["assigned"] == []
    found = tools.explain("wheat exports rose", "trade")
    assert found["label"] == "trade"
    assert found["score"] == pytest.approx(sum(vote["vote"] for vote in found["votes"]))
    assert tools.explain("wheat exports rose")["label"] == "grain"


def test_labels_are_found_by_letters(tools):
    assert [one["label"] for one in tools.labels("mon")["labels"]] == ["money"]
    assert tools.labels(limit=1)["found"] == 3


def test_what_is_taught_stands_in_the_journal_and_undo_takes_it_back(sure):
    tools = Tools(Server(str(sure.base_url)))
    learned = tools.learn("zinc plate", ["element"], wrong=["fruit"], key="mine")
    assert learned["new"]
    (entry,) = sure.ask("examples")["examples"]
    assert (entry["labels"], entry["wrong"], entry["complete"]) == (["element"], ["fruit"], False)
    assert sure.best("zinc plate")[0] == "element"
    assert not tools.learn("zinc plate", ["element"], wrong=["fruit"], key="mine")["new"]
    assert tools.undo(learned["number"])["new"]
    assert "element" not in sure.best("zinc plate")


def test_what_the_server_refuses_is_its_own_sentence(tools, server):
    for refused, sentence in [
        (lambda: tools.learn("gold rose"), "needs a label that is right"),
        (lambda: tools.rank("gold", k=0), "k"),
        (lambda: tools.undo(17), "there is no example 17"),
        (lambda: tools.explain("gold", "nobody has it"), "nobody has it"),
    ]:
        with pytest.raises(InputError, match=sentence):
            refused()


def test_who_may_only_read_does_not_teach(folder):
    from shortlist.server.people import Role, changing

    with changing(folder) as people:
        token = people.add("anna", Role.of("read"))
    (folder / "token").write_text(token)
    with in_thread(folder) as server:
        tools = Tools(Server(str(server.base_url), folder / "token"))
        assert tools.rank("wheat")["labels"][0]["label"] == "grain"
        with pytest.raises(InputError, match="judge"):
            tools.learn("gold rose", ["metal"])
        with pytest.raises(InputError, match="token"):
            Tools(Server(str(server.base_url))).rank("wheat")


def test_each_tool_says_what_it_does():
    assert all(inspect.getdoc(getattr(Tools, name)) for name in NAMES)


def test_without_the_package_the_command_says_what_to_install(run, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "mcp"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    found = run("mcp")
    assert found.code == 2
    assert found.err == f"shortlist: this needs the package mcp 2; {installing('mcp')}\n"
    assert "http://127.0.0.1:8000/" in run("mcp", "--server", "localhost").err


@pytest.mark.real
@pytest.mark.filterwarnings("default")
def test_the_official_client_over_standard_input_and_output(folder, monkeypatch):
    """The command itself, started by the client as an assistant does it."""
    mcp = pytest.importorskip(
        "mcp", minversion=None, reason="needs the package mcp: make integrations"
    )
    import anyio

    async def work(url):
        command = ["-m", "shortlist.cli", "mcp", "--server", url]
        started = mcp.StdioServerParameters(
            command=sys.executable, args=command, env={"SHORTLIST_TOKEN": TOKEN}
        )
        async with mcp.Client(mcp.stdio_client(started)) as client:
            assert client.server_info.name == "shortlist"
            assert client.instructions == INSTRUCTIONS
            offered = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert list(offered) == NAMES
            assert offered["learn"].input_schema["required"] == ["text"]
            assert offered["rank"].annotations.read_only_hint
            assert not offered["learn"].annotations.read_only_hint

            async def ask(name, **arguments):
                answer = await client.call_tool(name, arguments)
                said = answer.content[0].text
                return said if answer.is_error else json.loads(said)

            assert (await ask("rank", text="wheat exports", k=1))["labels"][0]["label"] == "grain"
            learned = await ask("learn", text="gold rose", labels=["metal"])
            assert learned["number"] == 1
            assert (await ask("rank", text="gold", k=1))["labels"][0]["label"] == "metal"
            assert (await ask("explain", text="gold"))["votes"]
            assert (await ask("labels", search="met"))["found"] == 1
            assert (await ask("undo", number=1))["new"]
            assert (await ask("rank", text="gold", k=1))["labels"] == []
            assert "there is no example 17" in await ask("undo", number=17)

    with in_thread(folder, token=TOKEN) as server:
        anyio.run(work, str(server.base_url))
        (entry,) = server.ask("examples")["examples"]
        assert entry["undone"]
