"""The GPUs of this machine: which there are, which this daemon shares, and which are lost.

What programs do with them is not known here; usage/ measures that.
"""
