"""Models in files: what a model is as arrays and JSON, and the file that holds it, whole or not
at all.
"""
