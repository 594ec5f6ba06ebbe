"""The checker's own reading of a bundle that a test has in hand."""

import json

import bundle_maker as maker
from bundle_maker import Bundle
from circuitproof_check.claim import read_claim
from circuitproof_check.forward import Forward
from circuitproof_check.tensors import Weights, read_safetensors


def checker_forward(bundle: Bundle) -> Forward:
    """Return the checker's forward pass of a bundle."""
    bundle.claim["properties"] = [{"kind": "equivalence"}]
    bundle.claim["weights"] = maker.pinned(bundle.tensors)
    content = json.dumps(bundle.domain).encode()
    bundle.claim["domain"] = {"digest": maker.digest(content), "prompts": len(bundle.domain["prompts"])}
    claim = read_claim(bundle.claim, bundle.domain, content)
    tensors = read_safetensors(maker.safetensors(bundle.tensors), "weights")
    return Forward(claim, Weights(claim.slices, tensors))
