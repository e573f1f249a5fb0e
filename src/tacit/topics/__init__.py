"""Non-negative factorisation and topics: what parts tables are made of, and what documents are about."""

__all__: list[str] = []
