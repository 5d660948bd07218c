"""What the end-to-end tests share; one topic a file."""
