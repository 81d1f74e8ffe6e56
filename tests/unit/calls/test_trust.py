"""What each trust zone may receive."""

from __future__ import annotations

import pytest

from evalcli.calls.trust import CEILINGS, check_data_class, more_sensitive
from evalcli.declarations.prompt_set import DataClass
from evalcli.declarations.workspace import TrustZone
from evalcli.errors import TrustZoneError

ORDER = [
    "public_content",
    "editor_content",
    "source_code",
    "internal_configuration",
    "system_diagnostics",
    "secret_adjacent",
]


def test_every_zone_has_a_ceiling() -> None:
    assert {zone: CEILINGS[zone].value for zone in TrustZone} == {
        "local": "secret_adjacent",
        "private_hosted": "system_diagnostics",
        "external_eu": "internal_configuration",
        "external_global": "editor_content",
    }


@pytest.mark.parametrize("zone", TrustZone)
@pytest.mark.parametrize("data_class", DataClass)
def test_data_up_to_the_ceiling_is_permitted(zone: TrustZone, data_class: DataClass) -> None:
    if ORDER.index(data_class) <= ORDER.index(CEILINGS[zone]):
        check_data_class("main", zone, data_class)
    else:
        with pytest.raises(TrustZoneError) as caught:
            check_data_class("main", zone, data_class)
        assert all(word in str(caught.value) for word in ("main", zone.value, data_class.value))


def test_the_more_sensitive_of_two() -> None:
    public, secret = DataClass.PUBLIC_CONTENT, DataClass.SECRET_ADJACENT

    assert more_sensitive(public, secret) is more_sensitive(secret, public) is secret
    assert more_sensitive(public, public) is public
