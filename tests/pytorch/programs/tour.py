"""A tour of torch.cuda, from end to end.

Kernels are timed and not computed on an emulated GPU, so only copied data is compared bit for bit.
"""

import threading

import torch


def devices() -> None:
    print("available", torch.cuda.is_available(), "count", torch.cuda.device_count())
    found = torch.cuda.get_device_properties(0)
    print(found.name, found.major, found.minor, found.total_memory, found.multi_processor_count)
    torch.zeros(1).cuda()
    print("capability", torch.cuda.get_device_capability(1), "current", torch.cuda.current_device())
    with torch.cuda.device(1):
        print("inside", torch.cuda.current_device(), torch.empty(3, device="cuda").device)
    print("outside", torch.cuda.current_device())
    print("code for it", f"sm_{found.major}{found.minor}" in torch.cuda.get_arch_list())
    try:
        torch.empty(1, device="cuda:7")
    except RuntimeError as error:
        print("no such device:", "invalid device" in str(error).lower())


def round_trips() -> None:
    random = torch.Generator().manual_seed(1)
    for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.bool):
        x = (torch.rand(257, 33, generator=random) * 100).to(dtype)
        print(dtype, torch.equal(x.to("cuda").cpu(), x))
    x = torch.rand(1 << 20, generator=random)
    print("clone", torch.equal(x.to("cuda").clone().cpu(), x))
    square = x.view(1024, 1024).t()
    print("transposed", torch.equal(square.cuda().cpu(), square))
    print("a part", torch.equal(x.cuda()[1000:2000].cpu(), x[1000:2000]))
    pinned = x.pin_memory()
    back = torch.empty_like(x, pin_memory=True)
    back.copy_(pinned.to("cuda", non_blocking=True), non_blocking=True)
    torch.cuda.synchronize()
    print("pinned", pinned.is_pinned(), x.is_pinned(), torch.equal(back, x))
    print("two GPUs", torch.equal(x.to("cuda:0").to("cuda:1").cpu(), x))
    print("peers", torch.cuda.can_device_access_peer(0, 1))
    into = torch.zeros(1 << 20, device="cuda:1")
    into.copy_(x.to("cuda:0"))
    print("into the other", torch.equal(into.cpu(), x))


def streams() -> None:
    x = torch.rand(1 << 22)
    side, urgent = torch.cuda.Stream(), torch.cuda.Stream(priority=-1)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    with torch.cuda.stream(side):
        begin.record()
        there = x.to("cuda", non_blocking=True)
        for _ in range(10):
            there * 2
        end.record()
    with torch.cuda.stream(urgent):
        urgent.wait_event(end)
        copy = there.clone()
        copy.record_stream(urgent)
    torch.cuda.current_stream().wait_stream(urgent)
    print("over both", torch.equal(copy.cpu(), x), "priorities", side.priority, urgent.priority)
    side.synchronize()
    print("took time", begin.elapsed_time(end) > 0, "done", end.query(), side.query())
    print("default", torch.cuda.default_stream() == torch.cuda.current_stream())
    many = [torch.cuda.Stream() for _ in range(100)]
    for number, stream in enumerate(many):
        with torch.cuda.stream(stream):
            one = torch.tensor([float(number)]).pin_memory()
            copy[number : number + 1].copy_(one, non_blocking=True)
    torch.cuda.synchronize()
    print("a hundred", torch.equal(copy[:100].cpu(), torch.arange(100.0)))


def threads() -> None:
    wrong = []

    def work(number: int) -> None:
        stream = torch.cuda.Stream(device=number % 2)
        with torch.cuda.device(number % 2), torch.cuda.stream(stream):
            for step in range(50):
                x = torch.full((1000,), number * 100 + step)
                y = x.to("cuda", non_blocking=True)
                y + 1
                if not torch.equal(y.cpu(), x):
                    wrong.append((number, step))

    started = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    print("four threads, wrong:", wrong)


def operations() -> None:
    x = torch.rand(100, 100, device="cuda", requires_grad=True)
    y = (torch.relu(x) * 3 - x.exp()).softmax(-1).sum()
    y.backward()
    print("gradient", tuple(x.grad.shape), x.grad.device)
    found = [x.sort(), x.topk(3), x.cumsum(0), x.argmax(), torch.cat([x, x]), x.std()]
    found += [torch.nn.functional.layer_norm(x, (100,)), torch.nn.functional.dropout(x)]
    torch.cuda.synchronize()
    print("operations", len(found))


def graphs() -> None:
    given = torch.zeros(1 << 16, device="cuda")
    result = torch.zeros(1 << 16, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = torch.sigmoid(given * 2 + 1)
        z = y - given
        result.copy_(given)
    for number in range(3):
        x = torch.full((1 << 16,), float(number))
        given.copy_(x)
        graph.replay()
        print("replay", number, torch.equal(result.cpu(), x), tuple(z.shape))
    second = torch.cuda.CUDAGraph()
    with torch.cuda.graph(second, pool=graph.pool()):
        given + 1
    second.replay()
    # Last of all: PyTorch's random numbers do not recover from a failed capture.
    try:
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            torch.cuda.synchronize()
    except RuntimeError as error:
        print("not in a capture:", "captur" in str(error))
    torch.cuda.synchronize()
    print("still well", torch.equal(torch.ones(3).cuda().cpu(), torch.ones(3)))


for part in (devices, round_trips, streams, threads, operations, graphs):
    print(f"== {part.__name__}")
    part()
