"""What is sent, and when: pure, and fixed by a seed."""
