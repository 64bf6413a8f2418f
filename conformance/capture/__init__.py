"""What compilation did: graphs by stage, recompiles and their reasons, graph breaks, guards."""
