import torch


def program(a, b):
    c = torch.full_like(b, 3)
    with torch.inference_mode():
        b.transpose_(0, -1)
    c.t_()
    c.index_add_(0, torch.tensor([0, 0], device=c.device), c[:2].clone())
    d = c * c
    b.copy_(b)
    e = b * d
    return e, c


def values(count, dtype, device):
    return ((torch.arange(count, device=device) * 5 + 1) % 7 - 3).to(dtype)


def calls(device):
    shared0 = values(16, torch.float32, device)
    a0 = values(16, torch.float32, device)[0 : 0 + 4 * 3].view(3, 4)[:, :3].requires_grad_()
    b0 = shared0[3 : 3 + 4 * 3 : 2]
    shared1 = values(16, torch.float32, device).requires_grad_() * 1
    a1 = shared1[3 : 3 + 4 * 2].view(2, 4)[:, :3]
    b1 = shared1[1 : 1 + 4 * 2 : 2]
    shared2 = values(16, torch.float32, device)
    a2 = values(16, torch.float32, device)[0 : 0 + 4 * 2].view(2, 4)[:, :3].requires_grad_()
    b2 = shared2[3 : 3 + 4 * 2 : 2]
    return [(a0, b0), (a1, b1), (a2, b2)]


INFERENCE = "inference_mode"
