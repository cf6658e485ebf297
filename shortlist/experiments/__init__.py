"""The papers' protocols, one file per paper: data in, plain arrays out."""
