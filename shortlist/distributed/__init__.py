"""The same training, ranking and evaluation on a Dask cluster: plain tasks and futures, merged in a fixed order."""
