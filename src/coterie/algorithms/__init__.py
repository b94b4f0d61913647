"""How, as in the paper: each method is one loop over an engine, written once."""
