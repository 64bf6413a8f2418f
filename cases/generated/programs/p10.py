import torch


def program(a, b):
    c = b[:]
    d = a.sum(0)
    e = torch.empty_like(b).copy_(b)
    d.squeeze_()
    return e, c, d


def values(count, dtype, device):
    return ((torch.arange(count, device=device) * 5 + 1) % 7 - 3).to(dtype)


def calls(device):
    shared0 = values(16, torch.int64, device)
    a0 = shared0[2 : 2 + 2 + 2]
    b0 = shared0[3 : 3 + 3].expand(2, 3)
    shared1 = values(16, torch.float32, device)
    a1 = values(16, torch.int64, device)[0 : 0 + 2 + 2]
    b1 = shared1[1 : 1 + 3].expand(2, 3)
    return [(a0, b0), (a1, b1)]


def after(arguments, outputs):
    outputs[2].unsqueeze_(0)
    return arguments, outputs
