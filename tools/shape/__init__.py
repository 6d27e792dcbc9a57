"""How large the code is, in numbers: modules, cycles, records, and what can be chosen."""
