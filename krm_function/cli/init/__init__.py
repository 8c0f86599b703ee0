"""`init`: what a deployment has, what it lacks, and what is left to do."""
