"""Adapters in other processes: JSON-RPC 2.0, one message a line, over standard input and output (`spec/protocol.md`)."""
