# SPDX-License-Identifier: Apache-2.0
"""Tests of the trace of the shop whose auth answers 50 ms later when app2 asks (data/samples/README.md)."""
import os
import subprocess
import tempfile
import unittest


class ShopTrace(unittest.TestCase):
    """Whoever builds on it says where the program and the samples are."""
    bbtrace = samples = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.shop = cls.path("shop.bbt")
        subprocess.run([cls.bbtrace, "capture", "-q", "-r", f"{cls.samples}/shop-slowauth.pcap.xz", "--names",
                        f"{cls.samples}/shop.hosts", "-w", cls.shop], check=True, timeout=300)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)
