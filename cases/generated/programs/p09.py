import torch


def program(a, b, c):
    d = b.contiguous()
    with torch.no_grad():
        e = c[0]
    f = b.relu()
    held = {"x": c}
    held["x"] = held["x"] * 3
    g = held["x"]
    h = f.t()
    held = {"x": f}
    held["x"] = held["x"] * 3
    i = held["x"]
    with torch.no_grad():
        f[0] = 7
    j = h.view(h.shape)
    return (j,)


def values(count, dtype, device):
    return ((torch.arange(count, device=device) * 5 + 1) % 7 - 3).to(dtype)


def calls(device):
    shared0 = values(16, torch.float32, device).requires_grad_() * 1
    a0 = shared0[1 : 1 + 2 * 2].view(1, 2, 1, 2).permute(0, 3, 1, 2)
    b0 = values(16, torch.float32, device)[0 : 0 + 2 + 2].unfold(0, 3, 1).requires_grad_() * 1
    c0 = shared0[2 : 2 + 2 * 2].view(1, 2, 1, 2).permute(0, 3, 1, 2)
    shared1 = values(16, torch.float32, device)
    a1 = values(16, torch.float32, device)[0 : 0 + 2 * 2].view(1, 2, 1, 2).permute(0, 3, 1, 2)
    b1 = shared1[1 : 1 + 2 + 2].unfold(0, 3, 1)
    c1 = shared1[1 : 1 + 2 * 2].view(1, 2, 1, 2).permute(0, 3, 1, 2)
    return [(a0, b0, c0), (a1, b1, c1)]


def after(arguments, outputs):
    outputs[0].unsqueeze_(0)
    return arguments, outputs
