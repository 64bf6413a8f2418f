"""What a program touches besides its arguments: global state, and what its code can reach; read and put back."""
