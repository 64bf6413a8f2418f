"""What only speeds a run up and touches how code is built: used where it is asked for, never otherwise."""

#: What is then done otherwise, as results say it.
SENTENCES = (
    "Kernels are linked by the fastest linker that works here, against empty libraries of torch's names.",
    "Where no case runs on the CPU, its vector instructions are taken to work as it says.",
    "The minifier's C++ compiler remembers what it has built.",
)
