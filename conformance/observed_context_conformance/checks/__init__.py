"""The checks, one module per area. None of them knows the reference."""
