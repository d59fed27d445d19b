"""The version, alone: setup reads it without importing anything else."""

__version__ = "0.1.0"
