"""Tools that live elsewhere: behind a signed HTTP request, or on an MCP server (catalogue 3.1, 3.5).

`connections` and `handlers` say where a call goes, `http_tools` and `mcp_servers` make it, `refreshing` compares what
an MCP server lists with what is stored.
"""
