"""The command line: fastsel bench, info and run."""
