"""The configuration of a TransformerLens model: what it says of the function that the tensors compute."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import isfinite

from circuitproof.errors import InputError
from circuitproof.files.reading import Fields
from circuitproof.importers.lens_layout import GROKKING, NATIVE, LensLayout
from circuitproof.models.architecture import inverse_root, is_float32, nearest_float32
from circuitproof.models.operators import Activation, Gelu, GeluForm, LayerNorm, Mask, NoNorm, Norm, Relu

_ACTIVATIONS = {
    "relu": Relu(),
    "gelu": Gelu(GeluForm.EXACT),
    "gelu_new": Gelu(GeluForm.TANH),
    "gelu_fast": Gelu(GeluForm.TANH),
    "gelu_pytorch_tanh": Gelu(GeluForm.TANH),
}
_OFF = (
    "gated_mlp",
    "num_experts",
    "final_rms",
    "post_embedding_ln",
    "use_normalization_before_and_after",
    "use_local_attn",
    "use_qk_norm",
    "scale_embedding",
    "attn_scores_soft_cap",
    "output_logits_soft_cap",
    "per_layer_head_dim",
    "load_in_4bit",
    "relative_attention_max_distance",
    "shortformer_pos",
    "is_stateful",
    "is_multimodal",
    "rope_scaling",
    "uses_rms_norm",
    "rotary_interleaved_cos_sin",
    "per_layer_num_key_value_heads",
    "is_audio_model",
    "is_visual_model",
    "use_yarn_rope",
)
"""Options of TransformerLens that change what is computed and are not there."""
_ONE = {
    "attn_coeff": "attention that is constant in part is no softmax",
    "rotary_scaling_factor": "stretched positions are not there yet",
}
"""Factors that change what is computed, and are not there."""
_READ = frozenset(
    {
        *("n_layers", "d_model", "n_ctx", "d_head", "n_heads", "d_mlp", "d_vocab", "d_vocab_out"),
        *(
            "act_fn",
            "attn_only",
            "normalization_type",
            "normalization",
            "eps",
            "attention_dir",
            "n_key_value_heads",
        ),
        *("use_attn_scale", "attn_scale", "attn_coeff", "scale_attn_by_inverse_layer_idx"),
        *("positional_embedding_type", "rotary_dim", "rotary_base", "rotary_adjacent_pairs"),
        *("use_NTK_by_parts_rope", "parallel_attn_mlp", "architecture", "rotary_scaling_factor"),
    }
)
_HARMLESS = re.compile(
    r"(use_hook|checkpoint|tokenizer|from_checkpoint|NTK|vision|init|relative_attention)_?.*"
    r"|use_attn_(result|in)|use_split_qkv_input|split_attention_weights|default_(prepend_bos|padding_side)"
    r"|device|n_devices|dtype|seed|n_params|model_name|original_architecture|trust_remote_code|window_size"
    r"|attn_types|experts_per_token|layer_norm_folding|qk_norm_after_rope|rmsnorm_uses_offset"
    r"|decoder_start_token_id|tie_word_embeddings|attn_implementation|mm_tokens_per_image"
    r"|ungroup_grouped_query_attention|yarn_.*|norm_topk_prob|rotary_base_local|weight_init_mode"
)
"""Options of TransformerLens that change no logit, or none unless one of the others is set."""
_FOLDED, _CAUSAL, _BOTH_WAYS = "LNPre", "causal", "bidirectional"
_UNSET = -1
"""What TransformerLens writes where a number is to be derived."""


@dataclass(frozen=True, slots=True)
class LensConfig:
    """The options of a model, with TransformerLens's defaults where one is left out."""

    fields: Fields
    layout: LensLayout

    def refuse_unsupported(self) -> None:
        """Refuse, by their names, options that change what is computed and are not there."""
        for key in _OFF:
            if self.fields.has(key) and _is_on(self.fields.value(key)):
                found = self.fields.value(key)
                raise InputError(f"{self.fields.path(key)} is {found}, want it off: it is not there yet")
        for key, why in _ONE.items():
            if self.fields.has(key) and self.fields.rational(key) != 1:
                raise InputError(f"{self.fields.path(key)} is {self.fields.rational(key)}, want 1: {why}")
        if strange := [key for key in self._unread() if key.startswith("use_") and self.fields.value(key)]:
            raise InputError(
                f"{self.fields.path(strange[0])} is {self.fields.value(strange[0])}, and what it changes is "
                "not known here; want it off"
            )
        if self.fields.has("architecture") and self.layout is NATIVE:
            self.fields.one_of("architecture", ("TransformerLensNative",))

    def refuse_other_sizes(self, found: Mapping[str, int]) -> None:
        """Refuse sizes that are not those of the tensors."""
        for key, size in found.items():
            said = self.size(key)
            if said is not None and said != size and not (key == "d_mlp" and size == 0):
                raise InputError(f"{self.fields.path(key)} is {said}, the tensors have {size}")

    def size(self, key: str) -> int | None:
        """Return a size, if it is said."""
        is_said = self.fields.has(key) and self.fields.value(key) not in (None, _UNSET)
        return self.fields.integer(key, least=1) if is_said else None

    def flag(self, key: str, *, default: bool = False) -> bool:
        return self.fields.boolean(key) if self.fields.has(key) else default

    def activation(self) -> Activation:
        found = self.fields.text("act_fn")
        if found.lower() not in _ACTIVATIONS:
            raise InputError(
                f"{self.fields.path('act_fn')} is {found!r}, want one of {', '.join(_ACTIVATIONS)}"
            )
        return _ACTIVATIONS[found.lower()]

    def activation_note(self) -> tuple[str, ...]:
        """Say of an activation whose constant has fewer digits that it is taken for the one with all."""
        is_short = self.fields.has("act_fn") and str(self.fields.value("act_fn")).lower() == "gelu_fast"
        said = "gelu_fast is taken for gelu_new, whose constant is 0.7978845608028654 and not 0.7978845608"
        return (said,) if is_short else ()

    def norm(self, *, has_scales: bool) -> Norm:
        """Return the norm; where it is left out the scales of norms tell whether there is one."""
        key = self._norm_key
        if self.fields.has(key) and self.fields.value(key) is None:
            return NoNorm()
        if not self.fields.has(key) and not has_scales:
            raise InputError(
                f"{self.fields.path(key)} is missing and there are no scales of norms; "
                "say null, or LNPre where norms were folded"
            )
        if self.fields.has(key):
            self.fields.one_of(key, ("LN", _FOLDED))
        if self.is_folded and has_scales:
            raise InputError(f"{self.fields.path(key)} is {_FOLDED}, but there are scales of norms; say LN")
        return LayerNorm(self.fields.rational("eps") if self.fields.has("eps") else Fraction(1, 100_000))

    @property
    def is_folded(self) -> bool:
        """Say whether the scales and shifts of norms were folded into what reads them."""
        return self.fields.has(self._norm_key) and self.fields.value(self._norm_key) == _FOLDED

    @property
    def _norm_key(self) -> str:
        """Return the key of the norm, which the first public models (`GELU_1L512W_C4_Code`) name so."""
        old, usual = "normalization", "normalization_type"
        return old if self.fields.has(old) and not self.fields.has(usual) else usual

    def is_rotary(self) -> bool:
        key = "positional_embedding_type"
        return self.fields.has(key) and self.fields.one_of(key, ("standard", "rotary")) == "rotary"

    def scale(self, head_width: int) -> tuple[Fraction, tuple[str, ...]]:
        """Return what scores are multiplied by, an FP32 number, and what was rounded for that."""
        is_scaled = self.flag("use_attn_scale", default=True)
        said = self.fields.rational("attn_scale") if self.fields.has("attn_scale") else Fraction(_UNSET)
        if not is_scaled and self.layout is not NATIVE:
            return Fraction(1), ()
        if not is_scaled or said <= 0 or abs(said * said - head_width) < Fraction(head_width, 10**6):
            return inverse_root(head_width), ()
        wanted = 1 / said
        if is_float32(wanted):
            return wanted, ()
        near = nearest_float32(wanted)
        return near, (f"scores are multiplied by {near}, the FP32 number nearest to 1/{float(said)}",)

    def mask(self, layers: int) -> tuple[Mask, tuple[str, ...]]:
        """Return the mask of attention, and what is to be said of it.

        In one layer the last position reads everything, with a mask or without: where nothing is said of one,
        a decision there is known, and a decision elsewhere is not.
        """
        key = "attention_dir"
        usual = "not said" if self.layout is GROKKING else _CAUSAL
        said = self.fields.text(key) if self.fields.has(key) else usual
        if said == _CAUSAL:
            return Mask.CAUSAL, ()
        if said == _BOTH_WAYS:
            return Mask.NONE, ("attention has no mask: every position attends to all of the prompt",)
        if layers == 1:
            unknown = (
                "whether attention has a mask is not said: at the last position of one layer it makes no"
            )
            return Mask.CAUSAL, (f"{unknown} difference; decide nowhere else",)
        raise InputError(
            f"{self.fields.path(key)} is {said!r}, want {_CAUSAL!r} or {_BOTH_WAYS!r}: in {layers} layers "
            "the last position reads what earlier ones may have seen of later ones"
        )

    def unread_note(self) -> tuple[str, ...]:
        """Say which keys nothing here has looked at."""
        unread = self._unread()
        return (f"not read of its configuration: {', '.join(unread)}",) if unread else ()

    def _unread(self) -> list[str]:
        known = _READ.union(_OFF)
        keys = self.fields.keys()
        return [key for key in keys if key not in known and not _HARMLESS.fullmatch(key)]


def _is_on(value: object) -> bool:
    """Say whether an option is used: TransformerLens writes null, false or a negative number where not."""
    return value > 0 if isinstance(value, int | Decimal) else bool(value)


def plain_config(given: Mapping[str, object]) -> dict[str, object]:
    """Return the options of a live configuration as a file has them, without what no file holds."""
    kept = {key: value for key, value in given.items() if _is_plain(value)}
    return {
        key: Decimal(repr(float(value))) if isinstance(value, float) else value for key, value in kept.items()
    }


def _is_plain(value: object) -> bool:
    if isinstance(value, float):
        return isfinite(value)
    return value is None or isinstance(value, bool | int | str | list | dict)
