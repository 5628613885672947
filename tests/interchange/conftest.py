"""The arena of duels that tests of views read too."""

from tests.views.conftest import arena as arena
from tests.views.conftest import folder as folder
