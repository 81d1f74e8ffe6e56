"""All that evalcli does, as plain functions. They print nothing and return records.

`evalcli` names the public ones. Each function finds the workspace as the command line does
(`workspace`, else `EVALCLI_WORKSPACE`, else the nearest folder upwards from the current one with
`evalcli.yaml`, else the built-in defaults) and raises an `EvalcliError` that a person can act on.
A module imports what its own functions need and no more: that is most of what a command takes.
"""
