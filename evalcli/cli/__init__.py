"""Commands: options in, one call to a module of `evalcli.api`, a report and an exit status out."""
