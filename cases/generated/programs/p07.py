import torch


def program(a, b):
    c = b[:, 1:]
    d = b.max(0).values
    d.data.add_(1)
    b.diagonal().fill_(6)
    b.zero_()
    e = d * b
    f = e.movedim(0, -1)
    d.squeeze_()
    return (f,)


def values(count, dtype, device):
    return ((torch.arange(count, device=device) * 5 + 1) % 7 - 3).to(dtype)


def calls(device):
    shared0 = values(16, torch.float32, device)
    a0 = shared0[3 : 3 + 4 * 3 : 2]
    b0 = shared0[2 : 2 + 3 * 3].view(3, 3)
    return [(a0, b0)]


def after(arguments, outputs):
    with torch.no_grad():
        arguments[0].add_(100)
    return outputs


INFERENCE = True
