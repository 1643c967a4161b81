# SPDX-License-Identifier: BSD-3-Clause
"""Spark for the tests: in this process, and as a standalone cluster of two workers on this machine."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time

import pyspark
import pytest

# Python of the executors, and a Java that Spark can use: pyspark asks JAVA_HOME first.
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.network.timeout": "60s",
    "spark.executor.heartbeatInterval": "5s",
}


def start(master, **more):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("tare")
    for name, value in {**SETTINGS, **more}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("FATAL")
    return session


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, process, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        assert process.poll() is None, "Spark's master ended"
        time.sleep(0.2)
    raise TimeoutError("Spark's master does not listen")


@contextlib.contextmanager
def standalone(folder):
    """A master and two workers with one core each, as processes of their own. Gives the master's address."""
    home = os.path.dirname(pyspark.__file__)
    launch = [os.path.join(home, "bin", "spark-class")]
    environment = {**os.environ, "SPARK_HOME": home, "SPARK_DAEMON_MEMORY": "256m"}
    port = free_port()
    processes = []

    def run(name, *arguments):
        log = open(os.path.join(folder, f"{name}.log"), "wb")
        processes.append(subprocess.Popen([*launch, *arguments], env=environment, stdout=log, stderr=log, start_new_session=True))
        return processes[-1]

    try:
        master = run("master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(free_port()))
        wait_for(port, master)
        for number in (1, 2):
            work = os.path.join(folder, f"work{number}")
            run(f"worker{number}", "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1g",
                "--webui-port", str(free_port()), "--work-dir", work, f"spark://127.0.0.1:{port}")
        yield f"spark://127.0.0.1:{port}"
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            if process.poll() is None:
                process.kill()


@pytest.fixture(scope="session", params=["local[2]", "standalone"])
def spark(request, tmp_path_factory):
    if not shutil.which("java") and not os.environ.get("JAVA_HOME"):
        pytest.skip("no Java: install openjdk-17-jre-headless")
    if request.param == "local[2]":
        session = start("local[2]")
        yield session
        session.stop()
        return
    folder = tmp_path_factory.mktemp("standalone")
    with standalone(str(folder)) as master:
        session = start(master, **{"spark.executor.memory": "512m", "spark.executor.cores": "1", "spark.cores.max": "2"})
        yield session
        session.stop()
