"""The commands, a file each: options and help texts, and a call of `cli/run`.

Begin with any of them: all have the same form, an object `command` that `cli/app.py` imports by
its name. Nothing heavy is imported at the top of these files, so that help comes at once; the work
is in the file of `cli/run` with the same name.
"""
