"""Calls every tool, a resource and a prompt of a Reckon service with the official MCP client, in the revision of its mode.

    tools.py URL TOKEN MODE < EXPORT

MODE is legacy (initialize) or auto (the newest revision); EXPORT is a proof export of a declaration one.
It ends with an AssertionError at the first answer that is not as expected.
"""

import asyncio
import json
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

BELL = {"qubits": 2, "shots": 100, "seed": 7, "gates": [{"gate": "h", "target": 0}, {"gate": "cx", "control": 0, "target": 1}]}
TOOLS = ["check_proof", "evaluate", "get_job", "lookup_symbol", "simulate_circuit", "verify"]


async def story(url, token, mode):
    async with (
        httpx2.AsyncClient(headers={"Authorization": "Bearer " + token}, timeout=120) as http,
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
        assert known.structured_content["known"] and "sine" in known.structured_content["usage"], known
        assert "Listable" in known.structured_content["attributes"], known
        unknown = await call("lookup_symbol", {"name": "NoSuchFunction"})
        assert not unknown.structured_content["known"] and unknown.structured_content["usage"] is None, unknown

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
