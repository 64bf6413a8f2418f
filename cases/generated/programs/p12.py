import torch


def program(a, b):
    with torch.enable_grad():
        a.add_(1)
    c = a.view(a.shape)
    with torch.no_grad():
        d = a.reshape(-1)
    c.squeeze_()
    a.zero_()
    e = c + torch.zeros_like(c)
    with torch.enable_grad():
        f = c.clone()
    e.data.add_(1)
    return (f,)


def values(count, dtype, device):
    return ((torch.arange(count, device=device) * 5 + 1) % 7 - 3).to(dtype)


def calls(device):
    shared0 = values(16, torch.float32, device).requires_grad_() * 1
    a0 = shared0[1 : 1 + 2 * 2].view(1, 2, 1, 2).permute(0, 3, 1, 2)
    b0 = shared0[3 : 3 + 2 + 2]
    a1 = values(16, torch.float32, device)[0 : 0 + 2 * 3].view(1, 3, 1, 2).permute(0, 3, 1, 2).requires_grad_() * 1
    b1 = values(16, torch.float32, device)[0 : 0 + 3 + 2]
    shared2 = values(16, torch.float32, device).requires_grad_() * 1
    a2 = shared2[3 : 3 + 2 * 2].view(1, 2, 1, 2).permute(0, 3, 1, 2)
    b2 = shared2[2 : 2 + 2 + 2]
    return [(a0, b0), (a1, b1), (a2, b2)]


DYNAMIC = True
