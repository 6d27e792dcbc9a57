"""The device plugin from start to end: puts the parts together, and handles signals."""

import asyncio
import contextlib
import logging
import signal
from collections.abc import AsyncIterator
from pathlib import Path

from aiohttp import web

import nvshare
from nvshare.kubernetes.client import Access
from nvshare.kubernetes.gpus import GpuState, GpuWatch
from nvshare.kubernetes.kubelet import stay_registered
from nvshare.kubernetes.plugin import Plugin
from nvshare.kubernetes.settings import PluginSettings
from nvshare.kubernetes.tenants import Tenants

log = logging.getLogger("nvshare.plugin")


async def serve(settings: PluginSettings, access: Access | None, health: Path | None) -> None:
    """Serve kubelet until told to stop. Without GPUs, wait for them."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    tenants = Tenants(hami=settings.hami)
    plugin = Plugin(settings, tenants)
    async with contextlib.AsyncExitStack() as stack:
        if health is not None:
            await stack.enter_async_context(_healthy(health))
        tasks = [
            loop.create_task(stop.wait()),
            loop.create_task(_offer(settings, plugin)),
        ]
        if access is not None:
            tasks.append(loop.create_task(tenants.run(access, settings.node)))
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in done:
            task.result()


async def _offer(settings: PluginSettings, plugin: Plugin) -> None:
    loop = asyncio.get_running_loop()
    found = asyncio.Event()

    async def take(gpus: tuple[GpuState, ...]) -> None:
        for gpu in gpus:
            how = f"unfit: {gpu.problem}" if gpu.problem else "fit for use"
            log.info("GPU %d (%s) is %s", gpu.card.index, gpu.card.uuid, how)
        await plugin.set_gpus(gpus)
        if gpus:
            found.set()

    # The thread that watches GPUs waits until a change was taken in, so that changes stay in order.
    watch = GpuWatch(lambda gpus: asyncio.run_coroutine_threadsafe(take(gpus), loop).result())
    watch.start()
    try:
        await found.wait()
        await stay_registered(settings, plugin)
    finally:
        watch.stop()


@contextlib.asynccontextmanager
async def _healthy(path: Path) -> AsyncIterator[None]:
    """Answer probes as the daemon does, for as long as the event loop runs."""

    async def answer(request: web.Request) -> web.Response:
        del request
        return web.json_response({"status": "ok", "version": nvshare.__version__})

    app = web.Application()
    app.add_routes([web.get("/v1/health", answer)])
    runner = web.AppRunner(app, access_log=None, handle_signals=False)
    await runner.setup()
    path.unlink(missing_ok=True)
    try:
        await web.UnixSite(runner, str(path)).start()
        yield
    finally:
        await runner.cleanup()
