#!/bin/bash
set -eu
sysctl --write vm.swappiness=1
