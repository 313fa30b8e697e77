"""Hypothesis generators of what crosses the port; public, composable, and adversarial by default."""
