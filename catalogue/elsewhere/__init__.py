"""External tools: called by a signed HTTP request, or on an MCP server (catalogue 3.1, 3.5).

`connections` and `handlers` define the target of a call, `http_tools` and `mcp_servers` make it.
"""
