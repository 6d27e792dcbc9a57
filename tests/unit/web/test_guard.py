"""Requests are let in by the token, by the name in the URL, and by nothing else."""

import pytest

from .stage import HEADERS, TOKEN, Told, Visit, visit

LIMITS = {"program": 1, "changes": {"priority": "low"}}
EVERYTHING = [
    ("GET", "/v1/view"),
    ("GET", "/v1/node"),
    ("GET", "/v1/why?program=1"),
    ("POST", "/v1/limits"),
    ("GET", "/v1/nothing"),
]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer "},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Bearer {TOKEN[:-1]}"},
        {"Authorization": TOKEN},
        {"Authorization": f"Basic {TOKEN}"},
        {"Cookie": f"token={TOKEN}"},
    ],
)
def test_without_the_token_nothing_is_read_or_changed(headers: dict[str, str]) -> None:
    source = Told()

    async def act(visit: Visit) -> None:
        for method, path in EVERYTHING:
            status, said = await visit.ask(
                method, path, headers=headers, json=LIMITS if method == "POST" else None
            )
            assert status == 401
            assert "train" not in str(said)
            status, _ = await visit.ask(method, f"{path}&token={TOKEN}", headers=headers)
            assert status == 401

    visit(source, act)
    assert source.changed == []


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8000", 200),
        ("localhost", 200),
        ("LOCALHOST:1", 200),
        ("[::1]:9465", 200),
        ("10.1.2.3", 200),
        ("gpus.example:9465", 200),
        ("evil.example", 403),
        ("evil.example:9465", 403),
        ("127.0.0.1.evil.example", 403),
        ("localhost.evil.example", 403),
        ("", 403),
    ],
)
def test_a_name_of_somebody_else_is_not_answered_to(host: str, status: int) -> None:
    async def act(visit: Visit) -> None:
        for path in ("/v1/view", "/"):
            found, _ = await visit.ask("GET", path, headers={**HEADERS, "Host": host})
            assert found == status

    visit(Told(), act, hosts=("gpus.example",))


def test_the_page_itself_needs_no_token_and_is_told_what_it_may_do() -> None:
    async def act(visit: Visit) -> None:
        for path in ("/", "/app.js", "/style.css", "/icon.svg", "/v1/view"):
            url = f"http://127.0.0.1:{visit.port}{path}"
            async with visit.session.get(url) as answer:
                assert answer.status == (401 if path == "/v1/view" else 200)
                policy = answer.headers["Content-Security-Policy"]
                assert "default-src 'none'" in policy
                assert "unsafe" not in policy
                assert "*" not in policy
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
                assert answer.headers["Referrer-Policy"] == "no-referrer"
                assert answer.headers["Cache-Control"] == "no-store"
                assert not [name for name in answer.headers if "access-control" in name.lower()]

    visit(Told(), act)


def test_what_a_form_of_another_page_can_send_is_refused() -> None:
    source = Told()

    async def act(visit: Visit) -> None:
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            headers = {**HEADERS, "Content-Type": kind}
            body = '{"program": 1, "changes": {"priority": "low"}}'
            assert (await visit.ask("POST", "/v1/limits", headers=headers, data=body))[0] == 415
        # A preflight request of another page is never granted.
        assert (await visit.ask("OPTIONS", "/v1/limits"))[0] == 405

    visit(source, act)
    assert source.changed == []


def test_only_files_of_the_page_are_served() -> None:
    async def act(visit: Visit) -> None:
        for path in ("/server.py", "/../server.py", "/%2e%2e/server.py", "/etc/passwd", "/page/"):
            assert (await visit.ask("GET", path))[0] == 404

    visit(Told(), act)
