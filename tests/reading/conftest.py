"""The arena of duels that tests of tables read too."""

from tests.tables.conftest import arena as arena
from tests.tables.conftest import folder as folder
