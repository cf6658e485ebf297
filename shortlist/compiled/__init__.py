"""What kernels stand on: how they are compiled, the rows that they take, and the checks that
let them trust it.
"""
