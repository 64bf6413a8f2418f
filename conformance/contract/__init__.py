"""What is promised: clauses, capabilities, scopes, torch's own ladder, and the catalog of cases."""
