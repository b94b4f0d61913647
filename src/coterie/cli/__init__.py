"""The command line: options become a typed request, `run/` does the work, reports tell the result.

`main.py` is the entry point and `app.py` names the commands. `commands/` holds a file per command,
with options and help; `run/` the work of each. An option of a command is a field of its request in
`requests.py`; options of a method and their defaults stand in `methods.py`. All text goes through
`screen.py`. Help imports nothing heavy. Begin with `commands/kmeans.py` and `run/fit.py`. The
command line uses every layer but engines and kernels.
"""
