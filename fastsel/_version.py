"""The version, in a module of its own: a build reads it without importing fastsel."""

__version__ = "0.1.0"
