"""Calls every tool, a resource and a prompt of a Reckon service with the official MCP client, in the revision of its mode.

    tools.py URL CREDENTIAL MODE < EXPORT

CREDENTIAL is an API token, or the cookie of a browser session whose owner then signs the client in through OAuth. MODE is legacy (initialize) or auto (the newest revision); EXPORT is a proof export of a declaration one.
It ends with an AssertionError at the first answer that is not as expected.
"""

import asyncio
import html
import json
import re
import sys
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

BELL = {"qubits": 2, "shots": 100, "seed": 7, "gates": [{"gate": "h", "target": 0}, {"gate": "cx", "control": 0, "target": 1}]}
TOOLS = ["check_proof", "evaluate", "get_job", "lookup_symbol", "simulate_circuit", "verify"]


class Memory:
    """Keeps what the client learns for as long as it runs."""

    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


class Person:
    """Allows the client on the consent page, with a browser session."""

    def __init__(self, url, cookie):
        self.url, self.cookie, self.sent_to = url, cookie, None

    async def open(self, address):
        async with httpx2.AsyncClient(headers={"Cookie": self.cookie}) as browser:
            page = await browser.get(address)
            fields = {name: html.unescape(value) for name, value in re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page.text)}
            assert fields, page.text
            answer = await browser.post(urljoin(self.url, "/oauth/authorize"), data=fields | {"answer": "allow"}, headers={"Origin": urljoin(self.url, "/")[:-1]})
            self.sent_to = answer.headers["Location"]

    async def come_back(self):
        query = parse_qs(urlsplit(self.sent_to).query)
        return AuthorizationCodeResult(code=query["code"][0], state=query["state"][0], iss=query["iss"][0])


def credentials(url, credential):
    """What the HTTP client sends a credential with."""
    if credential.startswith("rk_pat_"):
        return {"headers": {"Authorization": "Bearer " + credential}}
    person = Person(url, credential)
    metadata = OAuthClientMetadata(client_name="python-lab", redirect_uris=["http://127.0.0.1:8912/callback"])
    return {"auth": OAuthClientProvider(url, metadata, Memory(), person.open, person.come_back)}


async def story(url, credential, mode):
    async with (
        httpx2.AsyncClient(**credentials(url, credential), timeout=120) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        listed = await client.list_tools()
        assert sorted(tool.name for tool in listed.tools) == TOOLS, listed
        assert all(tool.output_schema for tool in listed.tools), listed

        async def call(name, arguments):
            result = await client.call_tool(name, arguments)  # the client checks the output schema
            assert not result.is_error, result
            assert json.loads(result.content[0].text) == result.structured_content, result
            return result

        evaluated = await call("evaluate", {"expression": "Integrate[x^2, x]"})
        assert evaluated.structured_content["verification"]["verdict"] == "verified", evaluated
        run = evaluated.structured_content["run_id"]
        receipt = await client.read_resource(f"reckon://receipts/{run}")
        assert json.loads(receipt.contents[0].text)["record"]["run_id"] == run, receipt

        verified = await call("verify", {"code": "Integrate[x^2, x]", "result": "x^3"})
        assert verified.structured_content["verdict"] == "refuted", verified

        drawn = await call("evaluate", {"expression": "Plot[Sin[x], {x, 0, 6}]"})
        assert any(block.type == "image" and block.mime_type == "image/svg+xml" for block in drawn.content), drawn
        assert any(block.type == "resource_link" for block in drawn.content), drawn

        simulated = await call("simulate_circuit", {"circuit": BELL})
        assert sorted(simulated.structured_content["result"]["counts"]) == ["00", "11"], simulated
        job = await call("get_job", {"job_id": simulated.structured_content["job_id"]})
        assert job.structured_content["result"] == simulated.structured_content["result"], job

        known = await call("lookup_symbol", {"name": "Sin"})
        symbol = known.structured_content["symbol"]
        assert symbol["status"] == "supported" and symbol["usage"] and symbol["examples"], known
        assert "Listable" in symbol["attributes"], known
        unknown = await call("lookup_symbol", {"name": "NoSuchFunction"})
        assert unknown.structured_content["symbol"] is None, unknown

        proved = await call("check_proof", {"declarations": ["one"], "export": sys.stdin.read()})
        assert proved.structured_content["result"]["verdict"] == "verified", proved

        refused = await client.call_tool("evaluate", {"expression": "Sin[x"})
        assert refused.is_error and json.loads(refused.content[0].text)["code"] == "syntax_error", refused

        prompts = await client.list_prompts()
        assert len(prompts.prompts) == 3, prompts
        prompt = await client.get_prompt("check_this_answer", {"expression": "1+1", "answer": "3"})
        assert "verify" in prompt.messages[0].content.text, prompt
        print("the story is told in", client.protocol_version)


asyncio.run(story(*sys.argv[1:]))
