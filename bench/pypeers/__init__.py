# SPDX-License-Identifier: BSD-3-Clause
"""The parts of bench/python_peers.py: the problem, the peers, and one measurement in a process of its own."""
