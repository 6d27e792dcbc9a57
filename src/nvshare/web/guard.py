"""Access checks, and the security headers for browsers. Every request and answer passes here.

A foreign page in the same browser can send requests to this machine. Without the token it can read
nothing, and it cannot know the token. It cannot make the browser send it either: the token is not
in a cookie. That leaves foreign names that resolve to this machine (DNS rebinding): the server
answers only to addresses, to localhost and to configured names.
"""

import ipaddress
from collections.abc import Awaitable, Callable, Collection

from aiohttp import hdrs, web

from nvshare.web.token import is_token

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

API = "/v1/"
_SCHEME = "Bearer "
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """The checks of one server."""

    def __init__(self, token: str, hosts: Collection[str] = ()) -> None:
        self._token = token
        self._hosts = {"localhost", *(name.lower() for name in hosts)}

    def protect(self, app: web.Application) -> None:
        """Install the checks in front of an application."""
        app.middlewares.append(self.check)
        app.on_response_prepare.append(_add_headers)

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Let a request through, or refuse it with a reason."""
        if not self._is_ours(request.headers.getall(hdrs.HOST, [])):
            return refuse(
                403,
                "this server does not have this name",
                "the Host header has to be an address, localhost, or a name given with "
                "--allow-host",
                "use the URL that `nvshare web` printed, or start it with --allow-host NAME",
            )
        if request.path.startswith(API) and not self._has_token(request):
            return refuse(
                401,
                "this needs the token",
                "the Authorization header has no token, or a wrong one",
                "open the URL that `nvshare web` printed",
            )
        if request.method == hdrs.METH_POST and request.content_type != "application/json":
            return refuse(415, "the body has to be application/json")
        return await handler(request)

    def _is_ours(self, given: list[str]) -> bool:
        if len(given) != 1:
            return False
        name = _host_of(given[0])
        return name in self._hosts or _is_address(name)

    def _has_token(self, request: web.Request) -> bool:
        given = request.headers.get(hdrs.AUTHORIZATION, "")
        return given.startswith(_SCHEME) and is_token(given.removeprefix(_SCHEME), self._token)


def refuse(status: int, what: str, why: str | None = None, do: str | None = None) -> web.Response:
    """Return an error for the user, in the form of the daemon's own API."""
    return web.json_response({"error": {"what": what, "why": why, "do": do}}, status=status)


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    del request
    response.headers.update(_HEADERS)


def _host_of(given: str) -> str:
    """Return a Host header without its port."""
    if given.startswith("["):
        return given[1:].partition("]")[0].lower()
    return given.partition(":")[0].lower()


def _is_address(name: str) -> bool:
    # A name can be made to resolve to another machine; an address cannot.
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
