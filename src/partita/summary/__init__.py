"""Everything about a posterior of clusterings in one object."""
