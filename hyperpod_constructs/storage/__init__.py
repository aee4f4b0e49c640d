"""File systems, their links to S3, and the permission to lose what they hold."""
