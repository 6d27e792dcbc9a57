"""A tensor on the GPU that is sent through a queue, changed by another process, and seen here."""

import torch
import torch.multiprocessing as mp


def work(tensors: "mp.Queue[torch.Tensor]", results: "mp.Queue[object]") -> None:
    x = tensors.get()
    results.put(("found", x.device.type, int(x.cpu().sum())))
    x.copy_(torch.full((100,), 7))
    torch.cuda.synchronize()
    results.put("changed")
    del x


if __name__ == "__main__":
    context = mp.get_context("spawn")
    tensors, results = context.Queue(), context.Queue()
    process = context.Process(target=work, args=(tensors, results))
    process.start()
    x = torch.arange(100).cuda()
    tensors.put(x)
    print(results.get())
    print(results.get(), int(x.cpu().sum()))
    process.join()
    print(process.exitcode)
