"""Processes of torch.multiprocessing that are spawned, each with a GPU of its own choice."""

import torch
import torch.multiprocessing as mp


def work(number: int, results: "mp.Queue[tuple[int, int, int]]") -> None:
    with torch.cuda.device(number % 2):
        x = torch.full((1000,), number).to("cuda")
        results.put((number, torch.cuda.current_device(), int(x.cpu().sum())))


if __name__ == "__main__":
    torch.zeros(1).cuda()
    context = mp.get_context("spawn")
    queue = context.Queue()
    started = [context.Process(target=work, args=(number, queue)) for number in range(2)]
    for process in started:
        process.start()
    print(sorted(queue.get() for _ in started))
    for process in started:
        process.join()
    print([process.exitcode for process in started])
