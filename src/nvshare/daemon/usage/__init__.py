"""What programs use of the GPUs, as NVML tells: polled, compared, and reported to the core.

Whatever programs say about themselves comes in frames, to clients/.
"""
