"""Where the ledger keeps its rows: schema and migrations, connections to SQLite and PostgreSQL, queries on two clocks."""
