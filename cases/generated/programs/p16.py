import torch


def program(a):
    b = a.expand(2, *a.shape)
    c = a.to(torch.int64)
    c.zero_()
    a.as_strided_((2,), (1,), 0)
    d = torch.full_like(c, 3)
    e = d.expand(2, *d.shape)
    f = b.max(0).values
    return (f,)


def values(count, dtype, device):
    return ((torch.arange(count, device=device) * 5 + 1) % 7 - 3).to(dtype)


def calls(device):
    a0 = values(16, torch.float32, device)[0 : 0 + 2 * 2].view(1, 2, 1, 2).permute(0, 3, 1, 2)
    shared1 = values(16, torch.float32, device)
    a1 = shared1[1 : 1 + 2 * 2].view(1, 2, 1, 2).permute(0, 3, 1, 2)
    shared2 = values(16, torch.float32, device)
    a2 = shared2[1 : 1 + 2 * 2].view(1, 2, 1, 2).permute(0, 3, 1, 2)
    return [(a0,), (a1,), (a2,)]
