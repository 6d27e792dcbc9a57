"""Kubernetes: offers GPUs to kubelet, and follows what the annotations of pods ask for."""
