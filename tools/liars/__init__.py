"""Clients that lie, beside real programs: what each program keeps of its fair part."""
