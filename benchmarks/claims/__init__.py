"""What the command and the page claim, checked on real tables."""
