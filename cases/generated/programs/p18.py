import torch


def program(a, b):
    with torch.inference_mode():
        c = b.flip(0)
    a.requires_grad_()
    d = torch.empty_like(a).copy_(a)
    d.index_put_((torch.tensor([0], device=d.device),), d[-1])
    return (d,)


def values(count, dtype, device):
    return ((torch.arange(count, device=device) * 5 + 1) % 7 - 3).to(dtype)


def calls(device):
    shared0 = values(16, torch.float32, device).requires_grad_() * 1
    a0 = shared0[3 : 3 + 3 * 2].view(3, 2).t()
    b0 = shared0[1 : 1 + 3].expand(2, 3)
    shared1 = values(16, torch.float32, device).requires_grad_() * 1
    a1 = shared1[0 : 0 + 3 * 2].view(3, 2).t()
    b1 = shared1[3 : 3 + 3].expand(2, 3)
    return [(a0, b0), (a1, b1)]
