"""Commands: options in, one call to `evalcli.api`, a report and an exit status out."""
