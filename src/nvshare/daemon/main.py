"""The daemon from start to end: puts the parts together, and handles signals and idle times."""

import asyncio
import contextlib
import gc
import logging
import signal
import socket
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

import nvshare
from nvshare.daemon import logs
from nvshare.daemon.api.control import Control
from nvshare.daemon.api.read_only import ReadOnlyApi
from nvshare.daemon.api.scrapes import Scrapes
from nvshare.daemon.clients.sample_clients import sample_clients
from nvshare.daemon.config import Config, Sources
from nvshare.daemon.gpus.arrivals import Arrivals, choose, gpus_so_far
from nvshare.daemon.gpus.locks import GpuLocks
from nvshare.daemon.gpus.survey import Gpu, Survey
from nvshare.daemon.host.host import gpu_clock, memory_limits, populates, spare_memory
from nvshare.daemon.logs import fields
from nvshare.daemon.node import Node
from nvshare.daemon.sockets import sdnotify
from nvshare.daemon.sockets.address import listen_on, show_address
from nvshare.daemon.sockets.folders import Folder, Lock, Marker, raise_file_limit
from nvshare.daemon.sockets.listeners import Listeners, Shut
from nvshare.daemon.sockets.loop_errors import LoopErrors
from nvshare.daemon.sockets.server import Server
from nvshare.daemon.usage.gpu_time import GpuTime
from nvshare.errors import NvshareError
from nvshare.launch.place import CONTROL_NAME, LOOK_NAME, check_node, own_folder
from nvshare.launch.private import make_private
from nvshare.launch.trust import SYSTEM
from nvshare.settings import DeviceSettings
from nvshare.wire import environment
from nvshare.wire.places import SOCKET_NAME

log = logging.getLogger("nvshare.daemon")

# How many new objects start Python's garbage collection.
_OBJECTS = 20_000
# How often the daemon of an emulated node checks that the node is still there.
_GLANCE = 2.0
_FIXED = {
    *("socket_dir", "control_dir", "private_dir", "socket_mode", "control_mode", "socket_group"),
    *("look_mode", "hide_others", "metrics_address", "cgroup_dir", "devices", "beside_others"),
    "peers",
}


Companion = Callable[[Config, Node], Coroutine[Any, Any, None]]
"""Runs beside the daemon for as long as it does, on the same event loop."""


def run(sources: Sources, companion: Companion | None = None) -> None:
    """Serve until told to stop."""
    config = sources.load()
    logs.set_up(config.log, config.log_format, config.log_file)
    raise_file_limit()
    check_node(sources.environ)
    found = choose(gpus_so_far(config.wait_for_gpus), config.devices)
    folder = Path(config.socket_dir) if config.socket_dir else own_folder(sources.environ)
    with contextlib.ExitStack() as stack:
        # Before anything is made in folders that another daemon may use.
        private = stack.enter_context(Lock(_private(folder, config)))
        control_folder = Path(config.control_dir) if config.control_dir else folder
        place = stack.enter_context(
            Folder(
                folder,
                mode=config.socket_mode,
                group=config.socket_group,
                look_mode=config.look_mode if control_folder == folder else 0,
            )
        )
        control_place = place
        if control_folder != folder:
            control_place = stack.enter_context(
                Folder(
                    control_folder,
                    mode=config.control_mode,
                    group=config.socket_group,
                    look_mode=config.look_mode,
                )
            )
        gpu_locks = stack.enter_context(GpuLocks(sources.environ, is_shared=config.beside_others))
        if folder != SYSTEM:
            gpu_locks.check_hidden()
        if not config.wait_for_gpus:
            # Otherwise the daemon waits for GPUs that another daemon has.
            gpu_locks.take(found.gpus)
        metrics = None
        if config.metrics_address:
            where = config.metrics_address
            metrics = listen_on(where, what="metrics", setting="metrics_address")
            stack.enter_context(metrics)
        folders = _Folders(place, control_place, private.path)
        daemon = _Daemon(sources, config, found, gpu_locks, folders, metrics)
        _collect_seldom()
        asyncio.run(daemon.serve(companion))
    logging.shutdown()


def _collect_seldom() -> None:
    """Run Python's garbage collector less often.

    Objects made for a frame or a snapshot are in no reference cycle, and are freed with their last
    reference. Scanning them all the same, every few hundred objects, and all modules now and then,
    was a tenth of the cost of a snapshot of many programs.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_OBJECTS)


def _private(folder: Path, config: Config) -> Path:
    try:
        return make_private(folder, {environment.PRIVATE_DIR: config.private_dir})
    except OSError as error:
        raise NvshareError(
            f"the private folder {config.private_dir or folder} cannot be used",
            why=error.strerror or str(error),
            do="choose another one with NVSHARE_PRIVATE_DIR",
        ) from error


@dataclass(frozen=True)
class _Folders:
    sockets: Folder
    control: Folder
    private: Path


class _Daemon:
    """The parts that live as long as the event loop."""

    def __init__(
        self,
        sources: Sources,
        config: Config,
        found: Survey,
        gpu_locks: GpuLocks,
        folders: _Folders,
        metrics: socket.socket | None,
    ) -> None:
        self._sources = sources
        self._config = config
        self._found = found
        self._gpu_locks = gpu_locks
        self._place = folders.sockets
        self._control_place = folders.control
        self._private = folders.private
        self._metrics = metrics
        self._marker = Marker(folders.private)
        self._clock = gpu_clock(sources.environ)
        node = sources.environ.get(environment.EMULATOR_NODE)
        self._emulated = Path(node) if node else None
        self._stop = asyncio.Event()
        self._idle: asyncio.TimerHandle | None = None
        self._beside: list[asyncio.Task[None]] = []

    async def serve(self, companion: Companion | None) -> None:
        """Serve until a signal, or until there have been no clients for long enough."""
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(LoopErrors(loop.time))
        self._node = node = Node(
            loop,
            version=nvshare.__version__,
            max_clients=self._config.max_clients,
            peers=self._config.peers,
            spare_memory=spare_memory(self._sources.environ),
            gpu_clock=self._clock,
            folder=self._private / "groups",
            on_population=self._population_changed,
            memory_limits=memory_limits(self._sources.environ, self._config.cgroup_dir),
            is_emulated=self._emulated is not None,
            populated=populates(self._sources.environ),
        )
        node.change_node(self._config.node_settings())
        node.limits.change_ceilings(self._config.cluster.all_ceilings())
        node.peers.must_see = bool(self._config.cluster.node)
        control = Control(node)
        self._read_only = ReadOnlyApi(
            control,
            node,
            self._place.path,
            self._control_place.path,
            hides=self._config.hide_others,
        )
        await self._read_only.start()
        self._reconnect_seconds = self._config.reconnect_seconds if self._marker.was_set else 0.0
        arrivals = Arrivals(node.gpus, node.outages, self._config.devices, self._admit)
        await arrivals.take_note(self._found)
        self._reconnect_seconds = self._config.reconnect_seconds
        self._run_beside(arrivals.follow())
        self._run_beside(GpuTime(node.parts).follow())
        self._run_beside(node.parts.headroom.follow())
        self._run_beside(node.footprint.follow())
        node.outsiders.warns = self._config.warn_outside
        self._run_beside(node.outsiders.follow())
        self._run_beside(node.thrashing.follow())
        self._run_beside(node.parts.extents.follow())
        self._run_beside(sample_clients(node.executor, node.clients))
        if companion is not None:
            self._run_beside(companion(self._config, node))
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop.set)
        loop.add_signal_handler(signal.SIGHUP, self._reload)

        runner = web.AppRunner(control.application(), access_log=None, handle_signals=False)
        await runner.setup()
        scrapes = await _offer(control, self._metrics)
        listeners = await self._open_listeners(runner)
        self._run_beside(listeners.follow())
        self._population_changed(0)
        if self._emulated is not None:
            self._mind_the_node()
        text = f"{len(node.gpus.all())} GPUs, {self._place.path}"
        log.info("ready", extra=fields(gpus=len(node.gpus.all()), folder=self._place.path))
        sdnotify.ready(text)
        try:
            await self._stop.wait()
        finally:
            sdnotify.stopping()
            for task in self._beside:
                task.cancel()
            await listeners.close()
            # Clients run on. The marker makes the next daemon wait for them.
            self._marker.set(bool(node.clients))
            node.close()
            if scrapes is not None:
                await scrapes.close()
            await runner.cleanup()
            await self._read_only.close()
            log.info("ended")

    async def _open_listeners(self, control: web.AppRunner) -> Listeners:
        """Serve users first, then programs."""

        async def serve_control(sock: socket.socket) -> Shut:
            site = web.SockSite(control, sock)
            await site.start()
            return site.stop

        async def serve_looks(sock: socket.socket) -> Shut:
            return await self._read_only.serve(sock, full=True)

        async def serve_programs(sock: socket.socket) -> Shut:
            server = Server(sock, asyncio.get_running_loop(), self._connect)

            async def shut() -> None:
                server.close()

            return shut

        listeners, config = Listeners(is_over=self._is_node_gone), self._config
        await listeners.open(self._control_place, CONTROL_NAME, config.control_mode, serve_control)
        await listeners.open(self._control_place, LOOK_NAME, config.look_mode, serve_looks)
        await listeners.open(self._place, SOCKET_NAME, config.socket_mode, serve_programs)
        return listeners

    def _settings_of(self, gpu: Gpu) -> DeviceSettings:
        settings = self._config.settings_of(gpu.index, gpu.uuid)
        return settings.at_speed(self._clock) if self._config.paced else settings

    async def _admit(self, gpu: Gpu) -> None:
        """Begin to share a GPU, unless another daemon does."""
        lock = self._gpu_locks.take_one(gpu)
        self._node.add_gpu(gpu, self._settings_of(gpu), self._reconnect_seconds)
        if lock is not None:
            await self._read_only.serve(lock, full=self._config.look_mode & 0o006 == 0o006)

    def _run_beside(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        task.add_done_callback(_log_end)
        self._beside.append(task)

    def _connect(self, sock: socket.socket) -> bool:
        if not self._node.connect(sock):
            return False
        # A process that checks for a daemon is about to start a client.
        self._population_changed(len(self._node.clients))
        return True

    def _population_changed(self, count: int) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        if count <= 1:
            self._marker.set(count > 0)
        if count == 0 and self._config.idle_exit:
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(self._config.idle_exit, self._stop.set)

    def _is_node_gone(self) -> bool:
        """Whether an emulated node was removed: no client can come any more."""
        return self._emulated is not None and not self._emulated.exists()

    def _mind_the_node(self) -> None:
        if self._node.clients or not self._is_node_gone():
            asyncio.get_running_loop().call_later(_GLANCE, self._mind_the_node)
        else:
            self._stop.set()

    def _reload(self) -> None:
        """Read the configuration again. Settings changed by hand since are forgotten."""
        sdnotify.reloading()
        try:
            config = self._sources.load()
        except NvshareError as error:
            log.error(
                "the configuration is wrong and nothing was changed", extra=fields(why=error.what)
            )
        else:
            for name in _differences(config, self._config) & _FIXED:
                log.warning("changing this needs a restart", extra=fields(field=name))
            self._config = config
            logs.set_up(config.log, config.log_format, config.log_file)
            self._node.registration.max_clients = config.max_clients
            self._node.outsiders.warns = config.warn_outside
            self._node.change_node(config.node_settings())
            self._node.limits.change_ceilings(config.cluster.all_ceilings())
            for gpu in self._node.gpus.all():
                self._node.change_settings(gpu, self._settings_of(gpu))
            log.info("configuration read")
        sdnotify.ready("reloaded")


async def _offer(control: Control, sock: socket.socket | None) -> Scrapes | None:
    """Serve metrics over TCP, if that is configured."""
    if sock is None:
        return None
    scrapes = Scrapes(control, sock)
    await scrapes.start()
    log.info("metrics", extra=fields(address=show_address(sock)))
    return scrapes


def _differences(one: Config, other: Config) -> set[str]:
    return {name for name in Config.model_fields if getattr(one, name) != getattr(other, name)}


def _log_end(task: "asyncio.Task[None]") -> None:
    """Log the failure of a companion; the daemon itself goes on."""
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("a part of the daemon has failed", exc_info=error)
