"""Families of models: the maker of a model, by its own name. Pure."""

from __future__ import annotations

import re

from peerage.values.texts import lazy

AGENTS = ("house", "human", "command", "acp", "http", "https", "python")
"""Players that are no models; each is its own family."""

_MAKERS = {
    "openai": r"gpt-?(?:\d\w*|oss)|chatgpt|^o[1-9]|^davinci|^codex",
    "anthropic": "claude",
    "google": "gemini|gemma|codegemma|^palm",
    "meta": "llama|codellama",
    "mistral": "mistral|mixtral|ministral|magistral|codestral|devstral|pixtral|mathstral",
    "xai": "grok",
    "deepseek": "deepseek",
    "qwen": "qwen|qwq|qvq",
    "microsoft": "^phi|wizardlm",
    "cohere": "^command|c4ai|^aya",
    "zai": "glm|chatglm",
    "moonshotai": "kimi|^moonshot",
    "minimax": "minimax",
    "01-ai": "^yi",
    "nvidia": "nemotron",
    "ibm": "^granite",
    "huggingface": "smollm|^zephyr",
    "ai2": "olmo|olmoe|^tulu",
    "tii": "^falcon",
    "tencent": "hunyuan",
    "baidu": "^ernie",
    "bytedance": "doubao|^seed",
    "amazon": "^nova|^titan",
    "ai21": "jamba|^jurassic",
    "lg": "exaone",
    "upstage": "^solar",
    "internlm": "internlm",
    "baichuan": "baichuan",
    "eleutherai": "pythia|gpt-?(?:neox?|j)",
    "stability": "stablelm",
    "nousresearch": "^hermes|^nous",
    "perplexity": "^sonar",
    "liquid": "^lfm",
}
"""Makers by words in the names of their models, or by how they begin (^), also where others serve or repack
them."""

_KNOWN = {
    maker: lazy(rf"(?:^|[-_:./\s])({names})(?=$|[^a-z])", re.IGNORECASE) for maker, names in _MAKERS.items()
}

_ORGANISATIONS = {
    "meta-llama": "meta",
    "mistralai": "mistral",
    "x-ai": "xai",
    "deepseek-ai": "deepseek",
    "z-ai": "zai",
    "zai-org": "zai",
    "thudm": "zai",
    "huggingfacetb": "huggingface",
    "allenai": "ai2",
    "tiiuae": "tii",
    "ibm-granite": "ibm",
    "coherelabs": "cohere",
    "cohereforai": "cohere",
}
"""Organisations on hubs and at OpenRouter whose makers have another name here."""

_SELL_THEIR_OWN = ("openai", "anthropic", "google", "xai", "mistral")
"""Providers that serve what they made themselves."""


def family_of(model: str, base_url: str = "") -> str:
    """The family of a model when none is stated: its maker and the first word of its name.

    The maker is who is known to give such names, else who is named before the slash, else a provider that
    serves its own models alone: never the wire by which any server is asked (a `base_url`). A model whose
    maker nobody can tell is its own family, and so is an agent, a person or a house player.
    """
    provider, _, rest = model.partition(":")
    if provider in AGENTS:
        return model
    organisation, _, name = rest.rpartition("/")
    if provider == "gguf":
        organisation, name = "", re.split(r"[/\\]", rest)[-1]
    name = name.lower()
    matches = [
        (match.start(1), maker, match[1]) for maker, known in _KNOWN.items() if (match := known.search(name))
    ]
    if matches:
        _, maker, name = min(matches)
    elif organisation:
        last = organisation.lower().rpartition("/")[2]
        maker = _ORGANISATIONS.get(last, last)
    elif provider in _SELL_THEIR_OWN and not base_url:
        maker = provider
    else:
        return name.removesuffix(".gguf")
    word = re.split(r"[-_:.\d]", name, maxsplit=1)[0]
    return f"{maker}/{word or name}"
