"""The floors: the least that the same server, the same queue and the same database need for anything at all."""
