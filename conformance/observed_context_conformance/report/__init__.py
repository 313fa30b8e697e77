"""What the kit says: verdicts per requirement, explanations, known failures, reports for people and for machines."""
