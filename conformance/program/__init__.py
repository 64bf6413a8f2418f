"""What is compiled and called: programs, call sequences, inputs, seeds, devices, source."""
