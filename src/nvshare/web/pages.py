"""The files of the page. They are the same everywhere and contain no data, so need no token."""

from importlib.resources import files

from aiohttp import web

from nvshare.web.guard import Handler

_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
_FIRST = "index.html"


def page_routes() -> list[web.RouteDef]:
    """Return a route for each file, so that no path can lead elsewhere."""
    routes = []
    for file in files("nvshare.web").joinpath("page").iterdir():
        suffix = file.name[file.name.rfind(".") :]
        if suffix in _TYPES:
            path = "/" if file.name == _FIRST else f"/{file.name}"
            routes.append(web.get(path, _handler(file.read_bytes(), _TYPES[suffix])))
    return routes


def _handler(body: bytes, kind: str) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        del request
        return web.Response(body=body, content_type=kind, charset="utf-8")

    return handle
