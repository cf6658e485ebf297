"""Loops that Numba compiles, and everything that is Numba's.

kernels.py           how a loop is compiled; steps that several algorithms share
numba_internals.py   what is not Numba's public interface, each with a fallback
stamps.py            what a compiled loop is made of
logarithms.py        logarithms that are the same on every machine
"""
