"""What templates say of each subject of the services, in the terms that rules ask in."""
