"""What an adapter's calls cost, and how the cost grows: measured beside the least that any adapter has to do."""
