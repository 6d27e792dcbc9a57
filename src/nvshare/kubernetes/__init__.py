"""Kubernetes: offers GPUs to kubelet, and follows the annotations of pods."""
