"""Adapters in other processes: JSON-RPC 2.0, a message a line, over standard input and output (`spec/protocol.md`)."""
