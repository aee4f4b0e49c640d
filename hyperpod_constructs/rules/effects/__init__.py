"""What changes do to what is deployed: one row per property, from the resource schemas and from the services' own rules."""
