"""As `anthropic_batches`, for the batch APIs of OpenAI (`/v1/responses`) and Google (Gemini's Batch Mode)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from tests.servers.anthropic_batches import BatchServer
from tests.servers.openai_server import instance

CREATED = 4_070_908_800  # 2099-01-01, so that no batch is old


def text_for(schema: Mapping[str, Any] | None) -> str:
    return "A plain answer." if schema is None else json.dumps(instance({**schema}))


@dataclass
class FileBatchServer(BatchServer):
    """What both have in common: requests come as a file of JSON lines, results leave as such files. `files`
    are those that clients uploaded, `deleted` those of them that they took away again."""

    files: dict[str, bytes] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)
    _made: dict[int, dict[str, str]] = field(default_factory=dict)

    def outcomes(self, number: int) -> dict[str, str]:
        """How each request of a batch ended: as `left_undone` says, which is used up once."""
        if number not in self._made:
            self._made[number] = found = {}
            for name in self.batches[number]:
                found[name] = self.left_undone.popleft() if self.left_undone else "succeeded"
                self.answered += [name] if found[name] == "succeeded" else []
        return self._made[number]

    def uploaded(self, data: bytes) -> str:
        name = f"in-{len(self.files)}"
        self.files[name] = data
        return name


class OpenAIBatches(FileBatchServer):
    """OpenAI's Files and Batches API. A batch with requests that expired is itself `expired`: its error file
    names the first of them, and of the others there is no line."""

    @property
    def url(self) -> str:
        return f"{super().url}/v1"

    def route(self, router: web.UrlDispatcher) -> None:
        router.add_post("/v1/files", self._upload)
        router.add_get("/v1/files/{id}/content", self._content)
        router.add_delete("/v1/files/{id}", self._delete)
        router.add_post("/v1/batches", self._create)
        router.add_get("/v1/batches/{id}", self._status)
        router.add_post("/v1/responses", self._message)

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        data = (await request.post())["file"]
        assert isinstance(data, web.FileField)
        name = self.uploaded(data.file.read())
        told = {"id": name, "object": "file", "bytes": 1, "created_at": CREATED, "filename": "batch.jsonl"}
        return web.json_response({**told, "purpose": "batch", "status": "processed"})

    async def _create(self, request: web.Request) -> web.StreamResponse:
        if self.refuse:
            error = {"message": "no", "type": "invalid_request_error", "code": None, "param": None}
            return web.json_response({"error": error}, status=self.refuse)
        asked = json.loads(await request.read())
        assert (asked["endpoint"], asked["completion_window"]) == ("/v1/responses", "24h")
        lines = map(json.loads, self.files[asked["input_file_id"]].splitlines())
        self.batches.append({one["custom_id"]: one["body"] for one in lines})
        return web.json_response(self._object(len(self.batches) - 1, asked["input_file_id"]))

    async def _status(self, request: web.Request) -> web.StreamResponse:
        self.looked.set()
        number = int(request.match_info["id"].removeprefix("batch_"))
        if number >= len(self.batches):
            return web.json_response({"error": {"message": "there is no such batch"}}, status=404)
        return web.json_response(self._object(number, f"in-{number}"))

    def _object(self, number: int, source: str) -> dict[str, Any]:
        how = set(self.outcomes(number).values()) if self.ended else set()
        status = "expired" if "expired" in how else "cancelled" if "canceled" in how else "completed"
        return {
            "id": f"batch_{number}",
            "object": "batch",
            "endpoint": "/v1/responses",
            "input_file_id": source,
            "completion_window": "24h",
            "status": status if self.ended else "in_progress",
            "created_at": CREATED,
            "output_file_id": f"out-{number}" if "succeeded" in how else None,
            "error_file_id": f"err-{number}" if how - {"succeeded"} else None,
            "request_counts": {"total": len(self.batches[number]), "completed": 0, "failed": 0},
        }

    async def _content(self, request: web.Request) -> web.StreamResponse:
        kind, _, number = request.match_info["id"].partition("-")
        if kind == "in":
            return web.Response(body=self.files[request.match_info["id"]])
        lines, told = [], set[str]()
        for name, how in self.outcomes(int(number)).items():
            line: dict[str, Any] = {
                "id": f"batch_req_{name}",
                "custom_id": name,
                "response": None,
                "error": None,
            }
            if (how == "succeeded") != (kind == "out") or how in told:
                continue
            if how == "succeeded":
                made = response(self.batches[int(number)][name])
                line["response"] = {"status_code": 200, "request_id": "r", "body": made}
            elif how == "errored":
                body = {"error": {"message": "too much to do", "type": "server_error", "code": None}}
                line["response"] = {"status_code": 500, "request_id": "r", "body": body}
            else:
                told.add(how)
                code = {"expired": "batch_expired", "canceled": "batch_cancelled"}[how]
                line["error"] = {"code": code, "message": "it was not run"}
            lines.append(json.dumps(line))
        return web.Response(text="\n".join(lines))

    async def _delete(self, request: web.Request) -> web.StreamResponse:
        self.deleted.append(request.match_info["id"])
        return web.json_response({"id": request.match_info["id"], "object": "file", "deleted": True})

    async def _message(self, request: web.Request) -> web.StreamResponse:
        self.calls += 1
        return web.json_response(response(json.loads(await request.read())))


def response(params: Mapping[str, Any]) -> dict[str, Any]:
    """A Responses object that answers one request."""
    asked = params.get("text", {}).get("format", {})
    said = {"type": "output_text", "text": text_for(asked.get("schema")), "annotations": []}
    message = {"type": "message", "id": "m", "status": "completed", "role": "assistant", "content": [said]}
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": CREATED,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": params["model"],
        "output": [message],
        "usage": {
            "input_tokens": 1000,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 500,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 1500,
        },
    }


class GoogleBatches(FileBatchServer):
    """Gemini's Batch Mode with uploaded files. A job with requests that expired is itself expired, and says
    nothing of them; one that answered none has no file of results."""

    def route(self, router: web.UrlDispatcher) -> None:
        router.add_post("/upload/v1beta/files", self._begin)
        router.add_post("/upload/here", self._upload)
        router.add_post("/v1beta/models/{rest}", self._models)
        router.add_get("/v1beta/batches/{id}", self._status)
        router.add_get("/v1beta/files/{id}", self._content)
        router.add_delete("/v1beta/files/{id}", self._delete)

    async def _begin(self, _: web.Request) -> web.StreamResponse:
        return web.json_response({}, headers={"X-Goog-Upload-URL": f"{self.url}/upload/here"})

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        name = self.uploaded(await request.read())
        told = {"file": {"name": f"files/{name}", "mimeType": "application/jsonl"}}
        return web.json_response(told, headers={"X-Goog-Upload-Status": "final"})

    async def _models(self, request: web.Request) -> web.StreamResponse:
        model, _, what = request.match_info["rest"].partition(":")
        asked = json.loads(await request.read())
        if what == "generateContent":
            self.calls += 1
            return web.json_response(content(asked, model))
        if self.refuse:
            error = {"code": self.refuse, "message": "no", "status": "PERMISSION_DENIED"}
            return web.json_response({"error": error}, status=self.refuse)
        assert what == "batchGenerateContent"
        source = asked["batch"]["inputConfig"]["fileName"].removeprefix("files/")
        lines = map(json.loads, self.files[source].splitlines())
        self.batches.append({one["key"]: {**one["request"], "model": model} for one in lines})
        return web.json_response(self._job(len(self.batches) - 1))

    async def _status(self, request: web.Request) -> web.StreamResponse:
        self.looked.set()
        number = int(request.match_info["id"])
        if number >= len(self.batches):
            error = {"code": 404, "message": "there is no such batch", "status": "NOT_FOUND"}
            return web.json_response({"error": error}, status=404)
        return web.json_response(self._job(number))

    def _job(self, number: int) -> dict[str, Any]:
        how = set(self.outcomes(number).values()) if self.ended else set()
        state = "EXPIRED" if "expired" in how else "CANCELLED" if "canceled" in how else "SUCCEEDED"
        told = {
            "model": "models/m",
            "state": f"BATCH_STATE_{state if self.ended else 'RUNNING'}",
            "createTime": "2099-01-01T00:00:00Z",
        }
        if how & {"succeeded", "errored"}:
            told["output"] = {"responsesFile": f"files/out-{number}"}
        return {"name": f"batches/{number}", "metadata": told, "done": self.ended}

    async def _content(self, request: web.Request) -> web.StreamResponse:
        number = int(request.match_info["id"].removeprefix("out-").removesuffix(":download"))
        lines = []
        for name, how in self.outcomes(number).items():
            params = self.batches[number][name]
            if how == "succeeded":
                lines.append({"key": name, "response": content(params, params["model"])})
            elif how == "errored":
                lines.append({"key": name, "error": {"code": 14, "message": "too much to do"}})
        return web.Response(text="\n".join(map(json.dumps, lines)))

    async def _delete(self, request: web.Request) -> web.StreamResponse:
        self.deleted.append(request.match_info["id"])
        return web.json_response({})


def content(params: Mapping[str, Any], model: str) -> dict[str, Any]:
    """What `generateContent` answers to one request."""
    config = params.get("generationConfig") or {}
    schema = config.get("responseJsonSchema") or config.get("responseSchema")
    said = {"role": "model", "parts": [{"text": text_for(schema)}]}
    return {
        "candidates": [{"content": said, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1000, "candidatesTokenCount": 500, "totalTokenCount": 1500},
        "modelVersion": model,
        "responseId": "r",
    }
