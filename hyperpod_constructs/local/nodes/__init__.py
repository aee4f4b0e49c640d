"""Virtual nodes: real systemd and real Slurm on one Linux machine, to run a cluster's scripts and jobs on.

    with Rig.create(directory, image=Image.build()) as rig:
        rig.boot([NodeSpec("controller", "Controller", 1), NodeSpec("workers", "Compute", 2)], scripts=…, config=…)
        rig.await_idle()
        print(rig.controller.run(["srun", "-N2", "hostname"]).stdout)

What is not like the service: the host agent, the image's set-up, the health agent, `aws` and `srun --auto-resume` are doubles;
Lustre is a bound directory, a GPU a device node without a device; no EFA, no containers, no control groups for jobs, no
DNS; all nodes share one clock and one kernel, and so one uptime.
"""

from __future__ import annotations

from hyperpod_constructs.local.nodes.aws_command import Answer
from hyperpod_constructs.local.nodes.database import AccountingDatabase, Database
from hyperpod_constructs.local.nodes.errors import NodesError
from hyperpod_constructs.local.nodes.image import Image
from hyperpod_constructs.local.nodes.node import File, VirtualNode
from hyperpod_constructs.local.nodes.requirements import missing
from hyperpod_constructs.local.nodes.rig import NodeSpec, Rig

__all__ = ["AccountingDatabase", "Answer", "Database", "File", "Image", "NodeSpec", "NodesError", "Rig", "VirtualNode", "missing"]
