import torch


def program(a):
    b = a.data
    a[0].add_(3)
    c = torch.nn.functional.dropout(b, 0.5, training=False)
    d = torch.full_like(c, 3)
    e = a.reshape(-1)
    with torch.enable_grad():
        c.zero_()
    f = d.clone()
    with torch.inference_mode():
        torch.add(f, 1, out=f)
    return f, e


def values(count, dtype, device):
    return ((torch.arange(count, device=device) * 5 + 1) % 7 - 3).to(dtype)


def calls(device):
    shared0 = values(16, torch.float32, device).requires_grad_() * 1
    a0 = shared0[3 : 3 + 2 + 2].unfold(0, 3, 1)
    shared1 = values(16, torch.float32, device).requires_grad_() * 1
    a1 = shared1[2 : 2 + 2 + 2].unfold(0, 3, 1)
    shared2 = values(16, torch.float32, device).requires_grad_() * 1
    a2 = shared2[0 : 0 + 2 + 2].unfold(0, 3, 1)
    return [(a0,), (a1,), (a2,)]


INFERENCE = True
