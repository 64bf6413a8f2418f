"""Processes that need not import torch: forks of one that has, the fork server.

`client.py` starts a server, `server.py` is what runs there, and `child.py` what a forked process does first. Whoever
wants a server names the module that says what it imports (``prepare``) and what a child does with its order (``main``).
"""
