"""Quotes in scripts of nodes, answers of the CLI in quotation marks, and secrets in traces."""

from __future__ import annotations

import pytest

from tests.analysis.node_states import said

SCRIPT = """#!/bin/bash
set -euo pipefail
debs=/opt/debs
dpkg --install "$debs"/*.deb
mkdir -p /etc/enroot
cat > /etc/enroot/enroot.conf <<'CONF'
ENROOT_CACHE_PATH /opt/cache/user-$(id -u)
CONF
tag="$(aws ssm get-parameter --name /image-tag --query Parameter.Value --output text)"
aws s3 cp "s3://mirror-bucket/pytorch-$tag.sqsh" /opt/image.sqsh
secret="$(aws secretsmanager get-secret-value --secret-id accounting --query SecretString --output text)"
password="$(jq -r .password <<< "$secret")"
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        ('"$debs"/*.deb', '"$debs/*.deb"', "has the pattern /*.deb within quotes in line 4: dpkg looks for a file of this name"),
        ('"$debs"/*.deb', "'/opt/debs/*.deb'", "has the pattern /opt/debs/*.deb within quotes"),
        ('dpkg --install "$debs"/*.deb', 'find "$debs" -name "*.deb"', None),
        ('dpkg --install "$debs"/*.deb', 'echo "all of $debs/*.deb"', None),
        ('dpkg --install "$debs"/*.deb', 'rm -f "$debs/"*.deb "$debs"/*.tmp', None),
        (
            "<<'CONF'",
            "<<CONF",
            "writes /etc/enroot/enroot.conf with $(id -u) of its own user, in line 7: that is root's for everybody",
        ),
        ("<<'CONF'\nENROOT_CACHE_PATH /opt/cache/user-$(id -u)", "<<CONF\nENROOT_CACHE_PATH /opt/cache/user-\\$(id -u)", None),
        ("<<'CONF'\nENROOT_CACHE_PATH /opt/cache/user-$(id -u)", "<<CONF\nENROOT_TEMP_PATH /opt/$(hostname)", None),
        ("/etc/enroot/enroot.conf <<'CONF'\nENROOT_CACHE_PATH", "/etc/profile.d/a.sh <<CONF\nexport CACHE=", "of its own user"),
        ("/etc/enroot/enroot.conf <<'CONF'", "/root/notes <<CONF", None),
        ("Parameter.Value --output text", "Parameter.Value --output json", "takes Parameter.Value as JSON for tag"),
        ("Parameter.Value --output text", "Parameter.Value", "takes Parameter.Value as JSON for tag"),
        ("Parameter.Value --output text", "Parameter.Version --output json", None),
        ("Parameter.Value --output text)", "Parameter.Value --output json | jq -r .)", None),
        ("$tag.sqsh", '${tag//\\"/}.sqsh', None),
        ("Parameter.Value --output text", "Parameter.Value --output json", "its quotation marks are a part of the text"),
        ("set -euo pipefail\n", "set -euo pipefail\nexport AWS_DEFAULT_OUTPUT=text\n", None),
        ("set -euo pipefail", "set -euxo pipefail", "reads a secret in line 11 while set -x writes all that it does into its log"),
        ("set -euo pipefail", "set -euo pipefail -o xtrace", "while set -x"),
        ("#!/bin/bash", "#!/bin/bash -x", "while set -x"),
        ('secret="$(', 'set -x\nset +x\nsecret="$(', None),
        ("password=", "set -x\npassword=", None),
    ],
)
def test_quotes_and_secrets(old: str, new: str, message: str | None) -> None:
    assert old in SCRIPT
    found = said({"start.sh": SCRIPT.replace(old, new) if old else SCRIPT})
    assert [message in one[1] for one in found] == [True] if message else found == []


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "env.sh",
            "export REGION=${!AWS::Region} ${AWS::Partition}\n",
            "env.sh for nodes of instance group 'head' keeps ${AWS::Region}",
        ),
        ("env.sh", "export REGION=${AWS::Region} ${!OTHER}\n", None),
        ("env.sh", "export PASSWORD={{resolve:secretsmanager:accounting:SecretString:password}}\n", "env.sh for nodes"),
        (
            "slurmdbd.conf",
            "StoragePass={{resolve:secretsmanager:accounting:SecretString:password}}\n",
            "gets a secret when it is uploaded",
        ),
        ("env.sh", "export NAME={{resolve:ssm:/a}}\n", None),
    ],
)
def test_texts_of_the_template_in_files(name: str, text: str, message: str | None) -> None:
    found = said({"start.sh": f"#!/bin/bash\nset -e\ntest -e {name}\n", name: text})
    assert [message in one[1] for one in found] == [True] if message else found == []
