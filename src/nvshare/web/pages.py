"""The files of the page. They are the same everywhere, tell nothing, and so need no token."""

from importlib.resources import files

from aiohttp import web

_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
_FIRST = "index.html"


def page_routes() -> list[web.RouteDef]:
    """Return a route for each file: there is no path that could lead elsewhere."""
    routes = []
    for file in files("nvshare.web").joinpath("page").iterdir():
        suffix = file.name[file.name.rfind(".") :]
        if suffix in _TYPES:
            path = "/" if file.name == _FIRST else f"/{file.name}"
            routes.append(web.get(path, _Page(file.read_bytes(), _TYPES[suffix])))
    return routes


class _Page:
    def __init__(self, body: bytes, kind: str) -> None:
        self._body = body
        self._kind = kind

    async def __call__(self, request: web.Request) -> web.Response:
        del request
        return web.Response(body=self._body, content_type=self._kind, charset="utf-8")
