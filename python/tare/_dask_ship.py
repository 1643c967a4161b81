# SPDX-License-Identifier: BSD-3-Clause
"""How models get to the workers of a Dask cluster: the scheduler keeps the bytes, and one process of each host asks for them."""

from __future__ import annotations

from typing import Any

from ._ship import Shipped

_HANDLER = "tare_model"


def offer(shipped: Shipped, content: bytes, client: Any = None) -> None:
    """Gives the model to the scheduler of the current client, if there is one. Dask's local schedulers run on this host, which has it."""
    client = client or current_client()
    if client is not None and not client.run_on_scheduler(_has_model, digest=shipped.digest):
        client.run_on_scheduler(_keep_model, digest=shipped.digest, content=content)


def current_client() -> Any:
    try:
        from distributed import get_client

        return get_client()
    except (ImportError, ValueError):
        return None


def _has_model(digest: str, dask_scheduler: Any = None) -> bool:
    return digest in dask_scheduler.extensions.get(_HANDLER, {"models": {}})["models"]


def _keep_model(digest: str, content: bytes, dask_scheduler: Any = None) -> None:
    """Runs in the scheduler: the models that workers may ask for, and how often they did."""
    state = dask_scheduler.extensions.setdefault(_HANDLER, {"models": {}, "sent": 0, "bytes": 0})
    state["models"][digest] = content

    async def send(digest: str) -> bytes:
        content: bytes = state["models"].get(digest, b"")
        state["sent"] += 1
        state["bytes"] += len(content)
        return content

    dask_scheduler.handlers[_HANDLER] = send


def fetch_from_scheduler(shipped: Shipped) -> bytes:
    """On a worker whose host does not have the model."""
    from distributed import get_worker
    from distributed.utils import sync

    worker = get_worker()

    async def ask() -> Any:
        return await getattr(worker.scheduler, _HANDLER)(digest=shipped.digest)

    content: bytes = sync(worker.loop, ask)
    if not content:
        raise RuntimeError(f"the scheduler does not have the model {shipped.name} (was it restarted?): call tare.dask.predict again")
    return content


def model_traffic(client: Any = None) -> dict[str, Any]:
    """Models that the scheduler has sent since it was started, their bytes, and the number of hosts with workers.

    A model goes to a host once. The host of the client needs none: there it is a file already.
    """
    client = client or current_client()
    if client is None:
        raise ValueError("there is no Dask client: nothing was sent")
    hosts = {worker["host"] for worker in client.scheduler_info(n_workers=-1)["workers"].values()}
    sent = client.run_on_scheduler(_traffic)
    return {"sent": sent[0], "bytes": sent[1], "hosts": len(hosts)}


def _traffic(dask_scheduler: Any = None) -> tuple[int, int]:
    state = dask_scheduler.extensions.get(_HANDLER, {"sent": 0, "bytes": 0})
    return state["sent"], state["bytes"]
