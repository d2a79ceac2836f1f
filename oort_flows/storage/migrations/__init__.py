"""Alembic's scripts: how a ledger of an older version becomes one of today's."""
