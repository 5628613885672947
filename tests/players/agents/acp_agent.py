"""A small agent over ACP, as a process of its own: plain JSON-RPC, nothing but the standard library.

It obeys the lines of a request that begin with `#`, one after the other; a request without any it passes on
to its model and repeats the reply. `--late SECONDS` lets it start slowly.
"""

import json
import os
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

SESSION = f"session-{os.getpid()}"
KINDS = {"allow_once": "yes", "allow_always": "always", "reject_once": "no", "reject_always": "never"}
heard, servers, numbers, after = [], [], iter(range(1000, 10**6)), []


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def received():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def ask(method, params):
    number = next(numbers)
    send({"id": number, "method": method, "params": params})
    while (message := received()).get("id") != number or "method" in message:
        if message.get("method") == "session/cancel":
            heard.append("cancelled")
    return message


def update(name, session=SESSION, **more):
    send(
        {
            "method": "session/update",
            "params": {"sessionId": session, "update": {"sessionUpdate": name, **more}},
        }
    )


def say(text, kind="agent_message_chunk"):
    update(kind, content={"type": "text", "text": text})


def permission(kind, options):
    """Ask whether a tool of a kind may be used; the option that was chosen, or what else came of it."""
    offered = [{"optionId": KINDS[option], "name": option, "kind": option} for option in options]
    call = {"toolCallId": f"may-{kind}", "title": f"to {kind}", "kind": kind}
    told = {"sessionId": SESSION, "toolCall": call, "options": offered}
    outcome = ask("session/request_permission", told)["result"]["outcome"]
    return outcome.get("optionId", outcome["outcome"])


def model(text):
    """Ask the model through the address that the agent was given; the reply's text, or what went wrong."""
    body = {"model": os.environ["MODEL"], "messages": [{"role": "user", "content": text}], "max_tokens": 200}
    request = urllib.request.Request(
        os.environ["URL"] + "/chat/completions",
        json.dumps(body).encode(),
        {"Authorization": f"Bearer {os.environ['KEY']}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request) as response:
            return json.load(response)["choices"][0]["message"]["content"]
    except urllib.error.HTTPError as error:
        return f"{error.code} {json.load(error)['error']['message']}"
    except OSError as error:
        return f"no way: {error}"


def mcp(server):
    """Start an MCP server, call its only tool and return what it put out."""
    env = os.environ | {pair["name"]: pair["value"] for pair in server["env"]}
    words = [server["command"], *server["args"]]
    with subprocess.Popen(words, stdin=-1, stdout=-1, text=True, env=env) as process:
        calls = (
            ("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}}),
            ("tools/call", {"name": "echo"}),
        )
        for number, (method, params) in enumerate(calls):
            process.stdin.write(
                json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"
            )
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
        process.stdin.close()
    return answer["result"]["content"][0]["text"]


def obey(word, rest):
    """Obey one line; return a stop reason, if that is where the request ends."""
    match word:
        case "#say":
            say(rest)
        case "#think":
            say(rest, "agent_thought_chunk")
        case "#plan":
            update("plan", entries=[{"content": rest, "status": "pending", "priority": "low"}])
        case "#tool":
            update(
                "tool_call",
                toolCallId=rest,
                title=rest,
                kind="other",
                status="pending",
                rawInput={"what": rest},
            )
            update(
                "tool_call_update",
                toolCallId=rest,
                status="completed",
                content=[
                    {"type": "content", "content": {"type": "text", "text": "done"}},
                    {"type": "terminal", "terminalId": "1"},
                ],
            )
        case "#may":
            kind, *options = rest.split()
            say(f"{kind}: {permission(kind, options or KINDS)}; ")
        case "#after":
            after.append(rest)
        case "#write":
            path, _, text = rest.partition(" ")
            with open(path, "w") as file:
                file.write(text)
        case "#open":
            try:
                with open(rest) as file:
                    say(file.read())
            except OSError as error:
                say(type(error).__name__)
        case "#recall":
            say(json.dumps({"pid": os.getpid(), "heard": heard, "cwd": os.getcwd()}))
        case "#env":
            say(json.dumps(dict(os.environ)))
        case "#model":
            say(model(rest))
        case "#title":
            threading.Thread(target=model, args=(rest,), daemon=True).start()
            time.sleep(0.3)
        case "#fetch":
            try:
                with urllib.request.urlopen(rest, timeout=5) as response:
                    say(str(response.status))
            except OSError:
                say("no way")
        case "#call":
            answer = ask(rest, {"sessionId": SESSION, "path": "/etc/hostname"})
            say(f"{rest}: {answer.get('error', {}).get('code')}; ")
        case "#mcp":
            say("; ".join(mcp(server) for server in servers))
        case "#child":
            child = subprocess.Popen(["sleep", rest], start_new_session=True)
            say(str(child.pid))
        case "#other":
            update("agent_message_chunk", "another-session", content={"type": "text", "text": rest})
        case "#image":
            update("agent_message_chunk", content={"type": "image", "data": "", "mimeType": "image/png"})
        case "#odd":
            update("available_commands_update", availableCommands=[])
        case "#noise":
            for at in range(int(rest)):
                sys.stdout.write(f"{at} is no JSON\n")
            sys.stdout.flush()
        case "#line":
            sys.stdout.write("x" * (9 * 2**20))
            sys.stdout.flush()
        case "#flood":
            while True:
                say("x" * 2**20)
        case "#die":
            sys.stderr.write("out of luck\n")
            sys.exit(int(rest))
        case "#hang":
            time.sleep(600)
        case "#wait":
            while received().get("method") != "session/cancel":
                pass
            return "cancelled"
        case "#fail":
            return {"error": {"code": int(rest), "message": "the model is not there"}}
        case "#answer":
            return json.loads(rest)
        case "#stop":
            return rest
    return None


def prompted(text):
    heard.append(text)
    if "--dies" in sys.argv:
        sys.exit("out of luck")
    lines = [line for line in text.splitlines() if line.startswith("#")]
    if not lines:
        say("let me see", "agent_thought_chunk")
        say(model(text))
    for line in lines:
        word, _, rest = line.partition(" ")
        if (ended := obey(word, rest)) is not None:
            return ended
    return "end_turn"


def main():
    if "--late" in sys.argv:
        time.sleep(float(sys.argv[sys.argv.index("--late") + 1]))
    if "--broken" in sys.argv:
        sys.exit("no such module")
    while True:
        message = received()
        result = {}
        match message.get("method"):
            case "initialize":
                result = {"protocolVersion": 2 if "--version-2" in sys.argv else 1, "agentCapabilities": {}}
            case "session/new":
                servers.extend(message["params"]["mcpServers"])
                result = {"sessionId": SESSION}
            case "session/prompt":
                ended = prompted(message["params"]["prompt"][0]["text"])
                if isinstance(ended, dict):
                    send({"id": message["id"], **ended})
                    continue
                result = {"stopReason": ended}
        if "id" in message:
            send({"id": message["id"], "result": result})
        while after:
            granted = permission(after.pop(), KINDS)
            with open("granted", "w") as file:
                file.write(granted)


main()
