"""The first schema."""

from __future__ import annotations

from alembic import op

from oort_flows.storage.creation import create_statements

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create everything but the table that Alembic keeps its own revision in."""
    connection = op.get_bind()
    for statement in create_statements(connection.dialect.name):
        if "CREATE TABLE oort_schema" not in statement:
            connection.exec_driver_sql(
                statement.replace("%", "%%") if connection.dialect.name == "postgresql" else statement
            )
