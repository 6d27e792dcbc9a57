"""Emulated GPU nodes: profiles, the node folder, and a view of it through NVML.

This package prepares a node and describes it. The GPUs themselves are the native libraries
(``libcuda.so.1`` and ``libnvidia-ml.so.1``), which read the files written here.
"""
