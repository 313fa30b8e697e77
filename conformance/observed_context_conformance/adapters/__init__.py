"""Adapters that come with the kit: the reference, and systems that others wrote."""
