import torch


def program(a, b, c):
    d = b.t()
    with torch.enable_grad():
        e = a[:, 1:]
    f = c.view(torch.int32)
    g = e.t()
    h = g.view(-1)
    i = e.cumsum(0)
    j = i[1:]
    return j, i, h


def values(count, dtype, device):
    return ((torch.arange(count, device=device) * 5 + 1) % 7 - 3).to(dtype)


def calls(device):
    shared0 = values(16, torch.float32, device)
    a0 = shared0[0 : 0 + 3 * 2].view(3, 2).t()
    b0 = shared0[2]
    c0 = shared0[2 : 2 + 3 * 2].view(2, 3)
    shared1 = values(16, torch.float32, device)
    a1 = values(16, torch.float32, device)[0 : 0 + 3 * 2].view(3, 2).t().requires_grad_()
    b1 = a1
    c1 = shared1[2 : 2 + 3 * 2].view(2, 3)
    shared2 = values(16, torch.float32, device)
    a2 = values(16, torch.float32, device)[0 : 0 + 3 * 2].view(3, 2).t()
    b2 = a2
    c2 = shared2[2 : 2 + 3 * 2].view(2, 3)
    return [(a0, b0, c0), (a1, b1, c1), (a2, b2, c2)]
