import torch


def program(a, b, c):
    a.t_()
    d = a + 0
    e = b[0]
    with torch.enable_grad():
        held = [b, b]
        held.append(b + 2)
        f = held[-1]
    with torch.inference_mode():
        g = c.movedim(0, -1)
    h = g.detach()
    i = f.sum(0)
    return (i,)


def values(count, dtype, device):
    return ((torch.arange(count, device=device) * 5 + 1) % 7 - 3).to(dtype)


def calls(device):
    shared0 = values(16, torch.float32, device)
    a0 = values(16, torch.int64, device)[0 : 0 + 3 * 2].view(2, 3)
    b0 = shared0[3 : 3 + 4 * 2].view(2, 4)[:, :3]
    c0 = values(16, torch.float32, device)[0 : 0 + 2 + 2].unfold(0, 3, 1).requires_grad_() * 1
    shared1 = values(16, torch.int64, device)
    a1 = shared1[2 : 2 + 3 * 2].view(2, 3)
    b1 = shared1[1 : 1 + 4 * 2].view(2, 4)[:, :3]
    c1 = a1
    return [(a0, b0, c0), (a1, b1, c1)]


INFERENCE = "inference_mode"
DYNAMIC = True
