import torch


def program(a, b, c):
    b.view(-1)[1:].mul_(3)
    b.unsqueeze_(0)
    with torch.no_grad():
        a.diagonal().fill_(6)
    d = a.sort(0).values
    with torch.enable_grad():
        d.add_(c)
    e = b[1:]
    d.transpose_(0, -1)
    f = d.to(torch.int64)
    return f, c


def values(count, dtype, device):
    return ((torch.arange(count, device=device) * 5 + 1) % 7 - 3).to(dtype)


def calls(device):
    shared0 = values(16, torch.float32, device).requires_grad_() * 1
    a0 = values(16, torch.float32, device)[0 : 0 + 3 * 2].view(3, 2).t().requires_grad_() * 1
    b0 = shared0[2]
    c0 = shared0[0 : 0 + 3 * 2].view(2, 3)
    return [(a0, b0, c0)]
