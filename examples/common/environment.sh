# shellcheck shell=bash
# Sourced by the batch scripts: the environment for the instance type of the job.
#
# Sources: the EFA cheat sheet of awslabs/awsome-distributed-ai (1.architectures/efa-cheatsheet.md) for p4d and p5, and
# "How to prepare trn1.32xlarge for multi-node execution" of the Neuron documentation for trn1.

# INSTANCE_FAMILY=p4d|p5|trn1|cpu overrides the family of the machine's own type: p5.48xlarge gives p5, p4de.24xlarge gives p4de.
instance_family() {
    local product=""
    if [[ -r /sys/devices/virtual/dmi/id/product_name ]]; then
        product=$(</sys/devices/virtual/dmi/id/product_name)
    fi
    echo "${INSTANCE_FAMILY:-${product%%.*}}"
}

set_environment() {
    local family
    family=$(instance_family)
    export INSTANCE_FAMILY=$family          # the ranks choose their communication backend by it
    case $family in
        p4d | p4de)
            export FI_PROVIDER=efa              # NCCL's plug-in talks to the network cards through EFA
            export FI_EFA_USE_DEVICE_RDMA=1     # GPUDirect; newer libfabric (1.18) does so by itself
            export FI_EFA_USE_HUGE_PAGE=0       # or fork() fails in a process with much pinned memory
            export NCCL_DEBUG="${NCCL_DEBUG:-WARN}"
            ;;
        p5 | p5e | p5en)
            export FI_PROVIDER=efa
            export FI_EFA_USE_HUGE_PAGE=0
            export NCCL_DEBUG="${NCCL_DEBUG:-WARN}"
            ;;
        trn1 | trn1n)
            if [[ ! -e /dev/neuron0 ]]; then
                echo "environment of $family: this node has no Neuron device (/dev/neuron0); submit to a partition of trn1 nodes" >&2
                return 1
            fi
            export FI_PROVIDER=efa
            export FI_EFA_USE_DEVICE_RDMA=1
            export FI_EFA_FORK_SAFE=1           # needed by kernels before 5.15 (Amazon Linux 2), harmless later
            ;;
        *) ;;                                   # CPU, or a type without EFA: gloo or NCCL over TCP need nothing
    esac
    export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
    # With the shared store, torchrun's next rendezvous would find addresses of the last one.
    export TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1
}

ranks_per_node() {
    local gpus=0
    if command -v nvidia-smi >/dev/null; then
        gpus=$(nvidia-smi -L | grep -c '^GPU ') || gpus=0
    fi
    echo "${RANKS_PER_NODE:-$((gpus > 0 ? gpus : 1))}"
}
