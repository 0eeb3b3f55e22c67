"""Development only: the pages' way to the local chain, for a wallet out of Anvil's own accounts."""

import json
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, JsonResponse
from django.views.decorators.http import require_POST

from contracts import node

# What a wallet needs, and no more: nothing here changes the chain's rules.
METHODS = frozenset(
    {
        "eth_accounts",
        "eth_blockNumber",
        "eth_call",
        "eth_chainId",
        "eth_estimateGas",
        "eth_feeHistory",
        "eth_gasPrice",
        "eth_getBalance",
        "eth_getBlockByNumber",
        "eth_getCode",
        "eth_getTransactionByHash",
        "eth_getTransactionCount",
        "eth_getTransactionReceipt",
        "eth_maxPriorityFeePerGas",
        "eth_sendTransaction",
        "eth_signTypedData_v4",
        "personal_sign",
    }
)


@require_POST
def dev_rpc(request: HttpRequest) -> JsonResponse:
    """Pass a JSON-RPC call on to the chain's node; anywhere but in development there is nothing.

    Refusals are JSON-RPC errors (https://www.jsonrpc.org/specification#error_object).
    """
    if not settings.DEVELOPMENT:
        raise Http404
    try:
        call = json.loads(request.body)
        name, parameters = call["method"], call.get("params", [])
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return _error(-32600, "This is not a JSON-RPC call.")
    if not isinstance(name, str) or name not in METHODS:
        return _error(-32601, "This method is not passed on.")
    try:
        answer = node.connect().provider.make_request(name, parameters)
    except node.NODE_ERRORS as error:
        return _error(-32603, node.reason(error))
    return JsonResponse({key: answer[key] for key in ("result", "error") if key in answer})


def _error(code: int, message: str) -> JsonResponse:
    body: dict[str, Any] = {"error": {"code": code, "message": message}}
    return JsonResponse(body)
