"""Which nodes of a cluster take which pods, as the scheduler's filters decide: for the command `plan` alone."""
