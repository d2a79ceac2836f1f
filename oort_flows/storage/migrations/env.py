"""What Alembic runs: the scripts on the connection it was handed, inside the transaction that is open there."""

from __future__ import annotations

from alembic import context

# Alembic fills in its context while it runs this; imported by anybody else, it does nothing.
if hasattr(context, "config"):
    context.configure(
        connection=context.config.attributes["connection"], version_table="oort_schema", transactional_ddl=True
    )
    with context.begin_transaction():
        context.run_migrations()
