"""Clients that lie, beside real programs: how much of its fair part each program keeps."""
