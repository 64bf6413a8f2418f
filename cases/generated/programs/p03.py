import torch


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 + x * 0


def program(a, b):
    c = a.t()
    d = c.as_strided((2,), (1,), 1)
    a.mul_(2)
    e = Scaled.apply(a)
    with torch.enable_grad():
        f = torch.full_like(e, 3)
    return (f,)


def values(count, dtype, device):
    return ((torch.arange(count, device=device) * 5 + 1) % 7 - 3).to(dtype)


def calls(device):
    shared0 = values(16, torch.float64, device).requires_grad_() * 1
    a0 = shared0[3 : 3 + 3 + 2]
    b0 = shared0[0 : 0 + 4 * 3].view(3, 4)[:, :3]
    return [(a0, b0)]
