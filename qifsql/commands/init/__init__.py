"""Write a commented study that runs as it is; never overwrite a file."""
