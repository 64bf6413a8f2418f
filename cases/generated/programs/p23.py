import torch


def program(a, b, c):
    with torch.no_grad():
        d = a[1:]
    e = a + 1
    f = e.unfold(0, 1, 2)
    g = c.view(-1)
    h = d.data
    with torch.no_grad():
        i = torch.cat([e, h])
    j = h.detach()
    with torch.no_grad():
        k = j.squeeze()
    return k, j


def values(count, dtype, device):
    return ((torch.arange(count, device=device) * 5 + 1) % 7 - 3).to(dtype)


def calls(device):
    shared0 = values(16, torch.float32, device).requires_grad_() * 1
    a0 = shared0[1 : 1 + 4 * 2 : 2]
    b0 = shared0[2 : 2 + 2 + 2].unfold(0, 3, 1)
    c0 = a0
    return [(a0, b0, c0)]
