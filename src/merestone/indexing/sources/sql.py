"""Rows of any database that SQLAlchemy speaks to. Extra ``sql``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from merestone.indexing.sources.credentials import read_secret
from merestone.indexing.sources.faults import unreachable
from merestone.indexing.sources.rows import Limit, Oversized, Row, RowSource
from merestone.indexing.sources.sqlite import query_failed
from merestone.types import MerestoneError, SettingsError, SourceSettings

if TYPE_CHECKING:
    from sqlalchemy import URL, Engine

_BATCH = 500
_FEW = 8
"""Rows that are held at a time where they are read whole."""


def open_source(settings: SourceSettings) -> RowSource:
    """The rows of ``settings.query`` in the database at ``settings.location``. Its password is in
    the environment variable that ``password_env`` names, or where the driver looks for one."""
    try:
        import sqlalchemy
    except ImportError as error:
        raise SettingsError(
            "extra-missing",
            "The sources of the kind sql need a package that is not installed.",
            "Install it: pip install 'merestone[sql]', and the driver of the database.",
        ) from error
    return RowSource(settings, _Table(settings, sqlalchemy))


class _Table:
    def __init__(self, settings: SourceSettings, sqlalchemy: Any) -> None:
        self._sql = sqlalchemy
        self._query = settings.query.strip().rstrip(";")
        self._password = read_secret(settings.password_env)
        self._url, self._engine = self._open(settings)
        self._columns: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        return self._url.set(password=None).render_as_string(hide_password=True)

    def columns(self) -> tuple[str, ...]:
        if not self._columns:
            with self._connection() as connection:
                nothing = self._select("*").where(self._sql.false())
                self._columns = tuple(connection.execute(nothing).keys())
        return self._columns

    def scan(self, columns: Sequence[str], limit: Limit) -> Iterator[Row | Oversized]:
        # How long a value is, each database has its own word for; so rows over the limit come, too.
        is_whole = columns == self.columns()
        query = self._select("*") if is_whole else self._select(*columns)
        yield from self._streamed(query, columns, limit, _FEW if is_whole else _BATCH)

    def rows(self, values: Sequence[object], limit: Limit) -> Iterator[Row | Oversized]:
        wanted = self._sql.column(limit.key).in_(list(values))
        query = self._select("*").where(wanted)
        yield from self._streamed(query, self.columns(), limit, _FEW)

    def _streamed(
        self, query: Any, columns: Sequence[str], limit: Limit, batch: int
    ) -> Iterator[Row | Oversized]:
        """The rows of ``query``, of which as many as ``batch`` are held at a time."""
        with self._connection() as connection:
            options = {"stream_results": True, "yield_per": batch}
            result = connection.execution_options(**options).execute(query)
            yield from (limit.applied(columns, tuple(row)) for row in result)

    def _select(self, *columns: str) -> Any:
        """As a part of a ``SELECT`` of ours the query can be nothing but one itself."""
        table = self._sql.text(f"(\n{_escaped(self._query)}\n) AS documents")
        wanted = [
            self._sql.text("*") if name == "*" else self._sql.column(name) for name in columns
        ]
        return self._sql.select(*wanted).select_from(table)

    def _open(self, settings: SourceSettings) -> tuple[URL, Engine]:
        try:
            url = self._sql.make_url(settings.location)
            whole = url.set(password=self._password) if self._password else url
            return url, self._sql.create_engine(whole, poolclass=self._sql.NullPool)
        except ImportError as error:
            raise SettingsError(
                "extra-missing",
                f"The database of the source {settings.name or 'sql'} needs a driver that is not "
                f"installed: {error}.",
                "Install the package that the message names.",
            ) from error
        except (self._sql.exc.ArgumentError, ValueError, TypeError):
            # Its words may hold the URL, and that a password.
            raise SettingsError(
                "invalid-setting",
                f"The URL of the source {settings.name or 'sql'} is none of a database.",
                "Give dialect+driver://user@host/database.",
            ) from None

    @contextmanager
    def _connection(self) -> Iterator[Any]:
        try:
            with self._engine.connect() as connection:
                yield connection
        except MerestoneError:
            raise
        except (self._sql.exc.OperationalError, self._sql.exc.InterfaceError) as error:
            raise unreachable(self.place, self._reason(error)) from None
        except self._sql.exc.SQLAlchemyError as error:
            raise query_failed(self.place, self._reason(error)) from None

    def _reason(self, error: Exception) -> str:
        """The driver's words alone, without parameters and password."""
        text = str(getattr(error, "orig", None) or error)
        return text.replace(self._password, "…") if self._password else text


def _escaped(query: str) -> str:
    """``:name`` in the query is the database's, no parameter."""
    return query.replace("\\", "\\\\").replace(":", "\\:")
