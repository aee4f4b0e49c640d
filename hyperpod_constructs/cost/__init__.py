"""What a template costs per hour, and what a change of it costs."""
