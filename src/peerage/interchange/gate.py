"""A gate of two players as other programs read it: JUnit XML, the summary and annotations of a workflow.

Names and topics may hold anything: nothing of them is markup in XML, Markdown or a command to GitHub.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from peerage.render import markdown as render
from peerage.render.blocks import Conclusion
from peerage.values.texts import visible
from peerage.views.decision.gate import Gate

_ANNOTATIONS = {"shown": "notice", "worse": "error", "open": "warning"}
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(whole: Gate, arena: str) -> bytes:
    """Return a gate as JUnit XML: a test case for it and for each topic: failed if worse, skipped if open."""
    gates = [whole, *whole.parts]
    counts = {
        "tests": str(len(gates)),
        "failures": str(sum(gate.decision == "worse" for gate in gates)),
        "errors": "0",
        "skipped": str(sum(gate.decision == "open" for gate in gates)),
        "time": "0",
    }
    root = ElementTree.Element("testsuites", {"name": "peerage"} | counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": _xml(f"peerage: {arena}")} | counts)
    for gate in gates:
        about = {"classname": "peerage.compare", "name": _xml(gate.claim), "time": "0"}
        case = ElementTree.SubElement(suite, "testcase", about)
        message, text = _xml(gate.lines[0]), _xml("\n".join(gate.lines))
        if gate.decision == "worse":
            failure = {"message": message, "type": "worse"}
            ElementTree.SubElement(case, "failure", failure).text = text
        elif gate.decision == "open":
            ElementTree.SubElement(case, "skipped", {"message": message})
        ElementTree.SubElement(case, "system-out").text = text
    ElementTree.indent(root)
    text = ElementTree.tostring(root, "unicode")
    return f"<?xml version='1.0' encoding='utf-8'?>\n{text}\n".encode()


def _xml(text: str) -> str:
    """Return text that XML can hold."""
    return _NO_XML.sub("\ufffd", visible(text))


def markdown(whole: Gate, arena: str) -> str:
    """Return a gate as the summary of a step."""
    from peerage.views.decision.gate import gates

    table = gates([whole, *whole.parts], f"Peerage: {arena}")
    return render.markdown([Conclusion(whole.lines), table]) + "\n"


def github_commands(whole: Gate) -> Iterator[str]:
    """Yield GitHub's commands that annotate a run with a gate, and with each of its topics that is worse."""
    for gate in (whole, *[part for part in whole.parts if part.decision == "worse"]):
        text = visible(gate.lines[0]).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        yield f"::{_ANNOTATIONS[gate.decision]} title=peerage compare::{text}"
